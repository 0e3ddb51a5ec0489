package tui

// helps say for each screen what it is for and what to type, with an example: at most 16 lines of 76 columns, so
// that the page with them fits the smallest screen.
var helps = map[string]string{
	"hello": `This page waits for the engine, the part of Touchdown that does the work.
It continues automatically, also after a reboot. Nothing to type.

If it stays away for more than five minutes, and Touchdown is not being
updated: log in on another console and start it again with
sudo systemctl restart touchdown-engine`,

	"checks": `This page shows what Touchdown found on this machine. It changes nothing.

PASS  is right.          WARN  works, but someone should know.
FAIL  is in the way.     SKIP  could not be checked; the line says why.

"checking" stands where an answer was changed and the machine is looked at
again. The earlier verdict no longer counts, and the review waits.

Up and Down move among the checks, Enter shows all of one: what was seen,
what to try. "Look again" after you have changed something, such as
plugging in a cable. "Waive" takes responsibility for a check: your name and
the reason go into the report. "Inventory" lists every part of the machine.

Example: WARN for a clock without time server is fine on a site without one.`,

	"form": `This page asks for what the site has given you. Nothing changes before the
review.

Tab or Enter goes to the next field, Shift-Tab back. A message below a field
says what is wrong with a value. Right of a value stands where it came from.
Ctrl-R puts back the value of one field that was found or loaded; "Restore
page" puts back all of them.

Ctrl-U empties a field. Secrets and keys are never shown again. Paste keys
whole and end with an empty line, take a file on a stick (Ctrl-O), or type
a path below /run/media, /media, /mnt, /home, /var/home, /tmp or /var/tmp.

Letters are keys where no text is typed; Tab leads to the buttons. There, a
may blink the port's LED, and d open advanced settings. Example: example.com`,

	"update": `A stick in this machine has a release of Touchdown. This page tells which
one, and asks whether it is to take the place of the program on this node.

Up and Down move, or a number; Enter chooses. "Not now" is in focus, and so
a stray Enter changes nothing. A landed node wants its host name, typed.

A release is offered only when a key that this node trusts has signed it,
its program starts here and it is not older than the node's; else the page
says why not. It is never installed without a person, nor while work runs.
The new engine is tried first. If it does not answer, the node keeps its
program. To go back later: log in, and  touchdown update --back

Example: 2 and Enter update a node that has not landed yet.`,

	"pick": `Choose one of the list: Up and Down move, Enter chooses, b goes back.

Where it stands below the list, a makes the machine show which one it means:
the LED of a network port blinks for a few seconds, so that you find the
socket. Nothing is chosen or changed by it.

Example: Down and Enter choose the second of the list.`,

	"files": `Choose a file on a stick or CD; its content becomes the value of the field.
Below each volume stand its files with their sizes, or why it is not read.

Up and Down move, Enter takes the file, i looks again, b goes back.

Only the file that you choose is read, by a process without rights; the
volume is not mounted. FAT (vfat), exFAT and ISO9660 are read. A file that
the field cannot take is refused with the reason, and the field stays as it
was. The review names each file and its volume.

Example: Down and Enter take the second file of the list.`,

	"keyboard": `Choose the layout of the keyboard at this screen: what is printed on its
keys. Until then the machine takes it for an American one, or for what its
owner configured, and a password may come out wrong.

Type the first letters of its name, or move with Up and Down; Enter
chooses, Tab goes back. It holds for all screens of this machine, also for
a login, and is loaded again after each start. Other consoles, such as a
serial line, have the keyboard of another machine.

No file of the system is changed. "us" is the American layout.

Example: de and Enter choose the German layout.`,

	"review": `This page shows everything that would be done. It changes nothing
before you start. Where earlier work left changes, Undo puts them back.

First what keeps the work from starting, then what users of the cluster will
notice and for how long, what cannot be undone, and every change as
old -> new. Up, Down and PgDn scroll.

"Go back" leads back to the questions; it never changes anything.
To start, press Tab, type the name shown, and press Enter.
Example: sno-0042`,

	"work": `The work is going on. You can leave this console: the work goes on without
it.

Left: the stages, [x] done, [>] at work, [-] left out, [!] failed, [<] put
back, and how many of their steps are finished. Right: what is done now, how
far it is and what it waits for. The mark after "engine:" turns as long as
the engine answers.

If it says that it takes longer than normal, look at the log first. "Stop
the work" stops at the next safe point; you can retry or undo then.

Example: l shows the log, b comes back.`,

	"question": `The work needs a decision. The number in front of an answer, or Up, Down
and Enter choose it.

If nobody answers in time, the answer marked (default) is taken. Looking at
the log first does no harm. Any key stops the countdown, for half an hour at
most; it begins again when this console goes away.

Example: 1 and Enter give the first answer.`,

	"problem": `A step failed. Nothing is lost, and nothing continues automatically.

Read "Try" first: it is the most likely cure. Up, Down or a letter choose;
Enter does it. "Retry" runs the step again; what is right already is left
alone. "Edit answers" leads to the questions, with everything kept; "Undo"
puts everything back.

Calling someone? Read them the code, and make a support bundle, with no
secrets in it: it goes onto a stick with FAT, or onto the disk without one.

Example: r and Enter run the step again.`,

	"dashboard": `The work is finished. This page stays: it shows the cluster as it is now.

"Report" shows the hand-over report. "Hand over" accepts it: the saved
originals and the secrets are wiped, undo ends, and the node is locked.
"Undo" puts everything back as it was at the factory.
"Leave" closes this console; the node keeps running.

Tab and Enter choose. What the users of this node would notice asks for its
name first; type it by hand, a paste does not count.

Example: R, Enter, Tab, the name and Enter reboot the machine.`,

	"confirm": `This asks whether you mean it. "No, go back" changes nothing. Where a name
has to be typed, it stands in the line above: Tab leads there.

Example: sno-0042`,

	"waive": `A waiver says that you know about a check that did not pass and that you
take responsibility. Type your name and why. Before the start, "Withdraw
waiver" on the page of the checks takes it back.

Example: Reason  agreed with the site on the phone, ticket 4711`,

	"log": `The log of the engine, newest line last, without secrets.

"Older" and "Newer", or PgUp and PgDn, move. "Find" looks for a word; find
again for the next one. "Follow" shows new lines as they come. "Warnings"
leaves out what is neither a warning nor an error; "All lines" brings it
back. "Node's journal" shows what the system of this node recorded since it
started, its warnings first; "Log" comes back.

Example: w shows the warnings alone.`,

	"offer": `The support bundle is on the site's network, so that someone with a
computer can fetch it: once, and for ten minutes at most. Nobody guesses the
address, and this page shows who fetched the bundle.

Afterwards compare the file's SHA-256 with the one here. On Linux:
sha256sum touchdown-support.tar.gz

"End the offer" ends it earlier. Closing this page does not. If the address
does not open: a firewall may block port 8765.`,

	"bundle": `Where the support bundle is, how large it is, and its SHA-256.
"Bundle on the network" puts a new bundle on the site's network for someone
with a computer.`,

	"help": `This explains the page below it. Enter or b closes it.`,

	"inventory": `The parts of this machine, as firmware and kernel tell them: memory slots,
disks, network ports, boards, with serial numbers. "not known" is followed
by the reason.

Up, Down and PgDn scroll; Left and Right go from one kind of part to the
next; Enter or b closes the page.

Example: Right until Memory; a slot with "empty" has no module in it.`,

	"evidence": `All that is known of one check: what was found, what was expected and where
that limit comes from, what to try, and word for word what was seen, which
is for engineers and in English.

Up, Down and PgDn scroll; Enter or b closes the page.

Example: below "What was seen:" stands each question to a DNS server with
its answer.`,

	"fitness": `The verdict on this machine: by what it is judged, what is missing, and
what helps. Nothing is changed on it.

"Next profile" judges by another one: the minimum of single-node OpenShift,
a telecom or retail site, or the order sheet that the factory left here.

"Test the disk" writes 22 MiB in about 30 s and leaves nothing behind. The
same key stops it; stopping or forgetting it takes the result away. The
result is in the report. Other pages wait with their checks meanwhile.

Example: FAIL for the disk while something else writes to it: wait, forget
the test and start it again.`,

	"logIn": `How the people of this site log in to their cluster. The password is new,
of this node alone; the factory's is no longer accepted. All letters are
lower case; it never contains i, l, o, 0 or 1.

Opening this page again shows the same password, until the node restarts
or the hand-over is accepted. Enter or b clears the page.

Example: h7kqm-2xw9n-pd4rt-vz8cj`,

	"report": `The hand-over report. Up, Down and PgDn scroll; Enter or b closes it.`,
}
