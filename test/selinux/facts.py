#!/usr/bin/python3
"""facts.py NAME=FOLDER... < questions > facts

Answers what a domain may do with a path under SELinux policies that build.sh compiled. A question is a line "DOMAIN VERB
TARGET"; uses.txt explains verbs and targets. A fact is "yes QUESTION TYPE REST" or "no QUESTION TYPE REST lacks WHAT". Where
the policies differ, each has its answer; "no" is then that one of them refuses.
"""
import re
import sys

import setools

READ = {"open", "read", "getattr"}
CREATE = {"create", "write", "setattr", "getattr"}
# What each verb needs of the object itself. What it needs of folders is in Asker.
NEEDS = {
    "read": READ, "test": {"getattr"}, "write": {"open", "write", "getattr"}, "remove": {"unlink"},
    "create": CREATE, "place": CREATE | {"relabelfrom", "relabelto"}, "replace": CREATE | {"rename", "unlink"},
    "mounton": {"mounton"}, "relabel": {"relabelfrom", "relabelto"},
}
FOLDER = {"read": READ | {"search"}, "remove": {"rmdir"}, "create": {"create", "setattr", "getattr"},
          "place": {"create", "setattr", "getattr", "relabelfrom", "relabelto"}}
PROCESS = {"signal": ("process", {"signal"}), "connect": ("unix_stream_socket", {"connectto"}),
           "call": ("dbus", {"send_msg"})}
MAKERS = ("create", "place", "replace")
ORDER = {"relabel": 1} | {verb: 0 for verb in MAKERS}
CLASSES = {"/": "dir", "=": "sock_file", "@": "lnk_file"}
FILESYSTEMS = {"/proc": "proc", "/sys": "sysfs"}  # their types are in the policy itself
MODES = {"-d": "dir", "--": "file", "-s": "sock_file", "-l": "lnk_file", "-c": "chr_file", "-b": "blk_file", "-p": "fifo_file"}


HEADER = """# What the SELinux policies of RHEL 9 allow, as "yes|no DOMAIN VERB TARGET TYPE": the type is what SELinux goes by. Behind it, "in"
# names the domain of the program that runs, "where" the type that restorecon would give, "lacks" what the policy does not allow.
# Where policies differ, each answer has its release in front. Written by `make selinux-facts`; uses.txt explains the verbs."""


class Contexts:
    """The type of a path, as restorecon would give it (libselinux, label_file.c): the last line that matches wins, and
    lines without wildcards come behind all others. None where nobody labels: there an object keeps the type it was made with."""

    def __init__(self, contexts, substitutions, generated):
        self.generated = generated
        wild, exact = [], []
        for line in open(contexts):
            words = line.split()
            if len(words) < 2 or line.startswith("#"):
                continue
            kind = MODES[words[1]] if len(words) == 3 else None
            context = None if words[-1] == "<<none>>" else words[-1].split(":")[2]
            plain = not re.search(r"(?<!\\)[.^$?*+|\[({]", words[0])
            (exact if plain else wild).append((re.compile(words[0]), kind, context))
        self.lines = list(reversed(wild + exact))
        self.subs = [line.split() for line in open(substitutions) if line.strip() and not line.startswith("#")]

    def type(self, path, kind):
        for old, new in self.subs:
            if path == old or path.startswith(old + "/"):
                path = new + path[len(old):]
                break
        for mount in ("/proc", "/sys"):
            if path == mount or path.startswith(mount + "/"):
                rest = path[len(mount):] or "/"
                return max((len(at), t) for fs, at, t in self.generated if fs == FILESYSTEMS[mount] and rest.startswith(at))[1]
        for pattern, of, context in self.lines:
            if of in (None, kind) and pattern.fullmatch(path):
                return context
        return None


class Policy:
    """Rules of the domains that are asked about, with the booleans as a new node has them."""

    def __init__(self, file, domains):
        policy = setools.SELinuxPolicy(file)
        self.attributes = {}
        for domain in domains:
            t = policy.lookup_type(domain)
            self.attributes[domain] = {domain} | {str(a) for a in t.attributes()}
        self.of = {str(t): {str(t)} | {str(a) for a in t.attributes()} for t in policy.types()}
        wanted = set().union(*self.attributes.values())
        self.generated = [(str(g.fs), str(g.path), str(g.context.type_)) for g in policy.genfscons()]
        self.allowed, self.made, self.named = {}, {}, {}
        for rule in policy.terules():
            kind = str(rule.ruletype)
            if kind not in ("allow", "type_transition") or str(rule.source) not in wanted or not rule.enabled():
                continue
            key = (str(rule.source), str(rule.target), str(rule.tclass))
            if kind == "allow":
                self.allowed.setdefault(key, set()).update(str(p) for p in rule.perms)
            elif isinstance(rule, setools.policyrep.FileNameTERule):
                self.named[key + (rule.filename,)] = str(rule.default)
            else:
                self.made[key] = str(rule.default)

    def lacks(self, domain, kind, over, needs):
        """What domain lacks of the needed permissions over an object of a type, as "class:permission"."""
        left = set(needs)
        for source in self.attributes[domain]:
            for target in self.of[over] | ({"self"} if over == domain else set()):
                left -= self.allowed.get((source, target, kind), set())
        return [f"{over}:{kind}:{p}" for p in sorted(left)]

    def transition(self, table, domain, over, *rest):
        for source in self.attributes[domain]:
            for target in self.of[over]:
                if (source, target) + rest in table:
                    return table[(source, target) + rest]
        return None


class Asker:
    def __init__(self, policy, contexts):
        self.policy, self.contexts = policy, contexts
        self.made = {}  # path: types that it gets from those who make it

    def types(self, path, kind):
        """Every type that an object may have: by its path, and from each of its makers."""
        by_path, made = self.contexts.type(path, kind), self.made.get(path, set())
        if by_path is None and not made:
            return self.types(path.rsplit("/", 1)[0] or "/", "dir") if path != "/" else ["root_t"]
        return sorted(({by_path} if by_path else set()) | made)

    def folders(self, path):
        at, out = "", []
        for part in path.split("/")[1:-1]:
            at += "/" + part
            out.append(at)
        return out

    def entered(self, domain, over, nnp):
        """The domain in which a program of a type runs, and what is missing for that."""
        new = self.policy.transition(self.policy.made, domain, over, "process") or domain
        lacks = self.policy.lacks(domain, "file", over, {"read", "getattr", "open", "execute"})
        if new != domain and nnp and self.policy.lacks(domain, "process2", new, {"nnp_transition"}):
            new = domain  # the kernel then stays in the old domain and says nothing (security/selinux/hooks.c)
        if new == domain:
            return new, lacks + self.policy.lacks(domain, "file", over, {"execute_no_trans"})
        return new, lacks + self.policy.lacks(domain, "process", new, {"transition"}) + \
            self.policy.lacks(new, "file", over, {"entrypoint"})

    def make(self, domain, verb, path, kind):
        """Notes and returns the type that a new object gets: from a rule for its name, from a rule, from its folder. A
        replaced file is made under another name, which no rule for names knows."""
        out = set()
        parent, name = path.rsplit("/", 1)
        for folder in self.types(parent, "dir"):
            new = self.policy.transition(self.policy.made, domain, folder, kind) or folder
            if verb == "create":
                new = self.policy.transition(self.policy.named, domain, folder, kind, name) or new
            out.add(self.contexts.type(path, kind) if verb == "place" else new)
        self.made.setdefault(path, set()).update(out)
        return out

    def file(self, domain, verb, path, kind):
        lacks, policy = [], self.policy
        for folder in self.folders(path):
            for t in self.types(folder, "dir"):
                lacks += policy.lacks(domain, "dir", t, {"search"})
        needs = FOLDER.get(verb, NEEDS[verb]) if kind == "dir" else NEEDS[verb]
        if verb in MAKERS + ("remove",):
            of_folder = {"write", "remove_name" if verb == "remove" else "add_name"}
            for t in self.types(path.rsplit("/", 1)[0], "dir"):
                lacks += policy.lacks(domain, "dir", t, of_folder | ({"remove_name"} if verb == "replace" else set()))
        types = self.types(path, kind)
        if verb in MAKERS:
            made = self.make(domain, verb, path, kind)
            types = sorted(made | set(types)) if verb == "replace" else sorted(made)
        for t in types:
            lacks += policy.lacks(domain, kind, t, needs - {"open"} if kind == "lnk_file" else needs)
        return types, lacks

    def answer(self, question):
        domain, verb, target = question.split()
        if verb in PROCESS:
            kind, needs = PROCESS[verb]
            back = self.policy.lacks(target, kind, domain, needs) if verb == "call" else []
            return [target], self.policy.lacks(domain, kind, target, needs) + back, ""
        kind, path = CLASSES.get(target[-1], "chr_file" if target.startswith("/dev/") else "file"), target.rstrip("/=@")
        if verb in ("execute", "execute-nnp"):
            types, lacks = self.types(path, kind), []
            new = set()
            for t in types:
                domain_then, missing = self.entered(domain, t, verb == "execute-nnp")
                new.add(domain_then)
                lacks += missing
            for folder in self.folders(path):
                for t in self.types(folder, "dir"):
                    lacks += self.policy.lacks(domain, "dir", t, {"search"})
            return types, lacks, " in " + ",".join(sorted(new))
        types, lacks = self.file(domain, verb, path, kind)
        if verb == "relabel":
            self.made = {p: t for p, t in self.made.items() if p != path and not p.startswith(path + "/")}
        by_path = self.contexts.type(path, kind)
        return types, lacks, "" if by_path in (None, *types[1:], types[0]) and len(types) == 1 else f" where its path says {by_path}"


def ask(folder, questions):
    """The facts of one policy: whether, and the rest of the line."""
    domains = {w for q in questions for w in (q.split()[0], q.split()[2]) if not w.startswith("/")}
    policy = Policy(folder + "/policy", domains | {"initrc_t", "getty_t", "dnsmasq_t", "mount_t"})
    policy.attributes = Everything(policy)
    asker, facts = Asker(policy, Contexts(folder + "/file_contexts", folder + "/substitutions", policy.generated)), {}
    # A folder before what is in it, makers before all others, and restorecon next: they decide what others may.
    for q in sorted(questions, key=lambda q: (ORDER.get(q.split()[1], 2), q.split()[2], q)):
        types, lacks, rest = asker.answer(q)
        refused = " lacks " + ",".join(sorted(set(lacks))) if lacks else ""
        facts[q] = (not lacks, ",".join(types) + rest + refused)
    return facts


def main():
    questions = sorted({line.strip() for line in sys.stdin if line.strip()})
    policies = [arg.split("=", 1) for arg in sys.argv[1:]]
    facts = {name: ask(folder, questions) for name, folder in policies}
    print(HEADER)
    for name, folder in policies:
        print(f"# RHEL {name}: {open(folder + '/from').read().strip()}")
    for q in questions:
        answers = {name: facts[name][q][1] for name in facts}
        rest = " | ".join(f"{name}: {a}" for name, a in answers.items())
        if len(set(answers.values())) == 1:
            rest = next(iter(answers.values()))
        print("yes" if all(facts[name][q][0] for name in facts) else "no", q, rest)


class Everything(dict):
    """Domains that a program ends in are known only when it is asked: their attributes come from the policy's types."""

    def __init__(self, policy):
        super().__init__(policy.attributes)
        self.of = policy.of

    def __missing__(self, domain):
        return self.of[domain]


if __name__ == "__main__":
    main()
