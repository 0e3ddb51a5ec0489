package main

// factoryHelp is what the help of `touchdown factory` says.
const factoryHelp = `Factory opens the wizard of the bench line: it checks the hardware, makes the cluster relocatable, seeds the image
store, rehearses a start without any registry, verifies the cluster's health, asks for what only a person can see, writes
the factory's report and seals the node, so that its next boot waits for the site. The node reboots three times; the work
continues automatically after each, and the same command opens the wizard again.

With --unattended nobody is asked: the answers are those of the policy in -f FILE (spec.policy.answers, such as
tick-packed: "yes"), and what has none there ends the work with a problem that names it.

With --ledger FILE the seal compares the node's cluster id, CA keys and SSH host keys with those of all nodes in FILE, refuses
one that shares any of them with another machine, and adds the node. FILE is made where it is not there yet, by this command
alone; it is used again when the node is sealed, some reboots later, and has to be mounted at the same place then. Only --shared-identity with a
reason lets a copy pass.

With --order FILE the hardware check judges the machine by a profile or an order sheet: serial numbers, model, firmware, memory
modules, disks and network ports. The sheet stays on the node, and names the cables for the check at the site.

With --burn-in TIME the hardware check is followed by a burn-in of 1m to 24h: all CPUs compute what is known, half of the available
memory is written and read back, and so is a file of 1 GiB on the disk; errors of memory, disks and network ports, temperatures and
throttling are counted. It has the lowest priority and can be stopped; one that was stopped or cut begins again. Its wish
counts until the node is sealed; --burn-in none takes it back.

With --second-key FILE.pub the seal needs two people: whoever runs the list, whose name --by gives, and a second person (--second), who has
one of the keys in FILE and is someone else; --revoked LIST names keys that no longer count. At a console the page Seal asks for the names
and for the file with the second person's private key, such as one on their stick. When the factory report is written, the second person
reads it and signs. With --unattended the work ends there (FAC-2ND, exit code 1); the same command with --second-sign KEY signs and seals.
The key is read then and not kept. Report and ledger name both. The node keeps the demand until --second-key none takes it back; names
count for one stay.

With --media-key FILE.pub the node trusts site media that the key signs, which touchdown media keygen made: at its site it then
takes answers from sticks, and lands automatically from one that says so. The node makes its own key pair; the ledger has the
public key, for touchdown media write --recipient.

With --release-key FILE.pub the node takes releases of Touchdown that the key signs (touchdown update), which touchdown media keygen
--release made. A release is a program that runs as root: its key is another one than that of site media, and each is refused in
the place of the other.

With --returned NODE a node that was at a site comes back, for repair; NODE is its name or its serial number. A landing whose hand-over
was not accepted is undone first. After the hand-over nothing can be undone: the cluster keeps the names and the network of its site,
and the list works on what it finds; the next landing gives it other names beside them. The records of the job at the site move to
/var/lib/touchdown/returned/DATE and stay there; its secrets are wiped. With --ledger FILE a line there says that the node
came back. After a power cut run the same command again.

With --site FILE the node takes the answers of its site along: sealed for its own key, bound to the serial number of this machine,
good for one use. At its site they are offered on the page Network, as those of a stick are; a person takes them, and nothing starts
before. The command replaces what was put in before; --reopen without --site takes it away, as unbake and the
landing do. The seal refuses a node that has lost it.

With --site FILE --site-unattended the sealed node starts its landing without a person: after a countdown of a minute, which every
console shows and any key stops, when no stick with a site config is there, nobody has given an answer, and every check passes.
A start that a power cut or a full disk keeps out of its records has changed nothing, and is made again.`

const factoryExamples = `  touchdown factory
  touchdown factory --ledger /run/media/line/ledger.jsonl
  touchdown factory --ledger /run/media/line/ledger.jsonl --media-key factory.pub
  touchdown factory --media-key factory.pub --release-key release.pub
  touchdown factory --second-key inspectors.pub --by "Ben Weber" --ledger /run/media/line/ledger.jsonl
  touchdown factory --burn-in 8h
  touchdown factory --site site.yaml
  touchdown factory --site site.yaml --site-unattended
  touchdown factory --returned sno-042 --ledger /run/media/line/ledger.jsonl
  touchdown factory --unattended -f line.yaml -o json`
