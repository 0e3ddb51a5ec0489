package tui

import (
	"fmt"

	"touchdown/backend/message"
)

// t returns the text with the key, in the language of this console. A key that is missing shows itself, which a test looks for.
func t(key string, args ...any) string {
	s, ok := here.texts[key]
	if !ok {
		if s, ok = texts[key]; !ok {
			return key
		}
	}
	if len(args) == 0 {
		return s
	}
	said := make([]any, len(args))
	for i, a := range args {
		said[i] = a
		if text, ok := a.(message.Text); ok {
			said[i] = show(text)
		}
	}
	return fmt.Sprintf(s, said...)
}

// show returns a text of the engine in the language of this console.
func show(text message.Text) string { return here.engine.Show(text) }

// showAll are texts of the engine in the language of this console.
func showAll(texts []message.Text) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = show(text)
	}
	return all
}

// texts are all words of the console itself, so that they can be translated in one place. What the engine
// says comes from the steps.
var texts = map[string]string{
	"product": "Touchdown",
	"yes":     "yes",
	"no":      "no",

	"key.next": "next", "key.prev": "previous", "key.up": "move", "key.down": "move", "key.left": "change",
	"key.right": "change", "key.enter": "choose", "key.accept": "next", "key.toggle": "change", "key.pageUp": "scroll",
	"key.pageDown": "scroll", "key.first": "start", "key.last": "end", "key.back": "back", "key.help": "help",
	"key.pen": "take control", "key.log": "log", "key.repaint": "repaint", "key.mode": "colours", "key.leave": "leave",
	"key.restore": "restore", "key.restorePage": "restore page", "key.erase": "empty", "key.delLeft": "delete", "key.delRight": "delete",
	"key.yes": "yes", "key.no": "no", "key.find": "find", "key.follow": "follow", "key.again": "look again",
	"key.goOn": "continue", "key.waive": "waive", "key.retry": "retry", "key.edit": "edit", "key.skip": "skip",
	"key.undo": "undo", "key.bundle": "support bundle", "key.stop": "stop", "key.report": "report",
	"key.handover": "hand over", "key.unlock": "unlock", "key.reboot": "reboot", "key.powerOff": "power off",
	"key.checks": "checks", "key.act": "try", "key.inventory": "inventory", "key.part": "part", "key.logIn": "credentials", "key.close": "close", "key.cancel": "cancel",

	"button.goOn": "Continue", "button.back": "Back", "button.goBack": "Go back", "button.restorePage": "Restore page",
	"button.again": "Look again", "button.checks": "Checks: %s", "button.log": "Log", "button.help": "Help",
	"button.leave": "Leave", "button.pen": "Take control", "button.start": "Start the work", "button.waive": "Waive",
	"button.cancel": "Stop the work", "button.retry": "Retry", "button.edit": "Edit answers", "button.skip": "Skip step",
	"button.undo": "Undo", "button.bundle": "Support bundle", "button.stop": "Stop here", "button.report": "Report",
	"button.reboot": "Reboot", "button.powerOff": "Power off", "button.move": "Move again", "button.recheck": "Check again",
	"button.inventory": "Inventory", "button.logIn": "Credentials", "button.handover": "Hand over", "button.unlock": "Unlock", "button.no": "No, go back", "button.yes": "Yes",
	"button.close": "Close", "button.find": "Find", "button.older": "Older", "button.newer": "Newer",
	"button.follow": "Follow", "button.unfollow": "Stop following",

	"header.serial": "SN %s",
	"header.stage":  "Stage %d of %d: %s",
	"header.stages": "%d stages",
	"header.review": "Review: nothing was changed so far",
	"header.done":   "Finished",
	"header.undone": "Put back",

	"key.plain":       "plain text",
	"plain.back":      "This is plain text. Where you are asked for a word or a number, %s brings the screens back.",
	"plain.screens":   "screens",
	"plain.crashed":   "The screens failed on this line. This is plain text with the same questions; the work was not disturbed.",
	"plain.leave":     "Type %s to leave:",
	"plain.leaveWord": "leave",

	"key.pin":     "open",
	"lock.after":  "Locked: nobody used this console for %s.",
	"lock.pin":    "PIN:",
	"lock.trying": "Trying the PIN ...",
	"lock.wrong":  "The PIN is wrong. Try again in %d s.",
	"lock.soon":   "Too soon after a wrong PIN. Try again in %d s.",
	"lock.closed": "This console locked itself. Type the PIN.",

	"hello.wait":     "Waiting for the engine of this node ...",
	"hello.nothing":  "There is nothing to ask. Continue to see what would be done.",
	"engine.gone":    "engine not answering, trying again; your work goes on",
	"small":          "this window is %dx%d, Touchdown needs 80x24; the keys work",
	"resumed":        "resumed %s",
	"notice.more":    "(+%d: %s)",
	"scroll.where":   "lines %d to %d of %d",
	"word.or":        " or ",
	"word.none":      "relocate",
	"pen.yours":      "you have control",
	"pen.free":       "nobody has control: Ctrl-G takes it",
	"pen.other":      "read-only: %s has control, Ctrl-G takes it",
	"pen.lost":       "%s took control. What you typed is kept here.",
	"pen.held":       "%s has control. Press Ctrl-G to take it.",
	"pen.none":       "This console does not have control. Press Ctrl-G to take it.",
	"pen.readonly":   "Read-only. Press Ctrl-G to take control.",
	"pen.title":      "Take control?",
	"pen.text":       "Someone may be typing at %s. That console becomes read-only; what was accepted so far is kept.",
	"leave.title":    "Leave this console?",
	"leave.text":     "Nothing is lost, and work that has begun continues. To come back, log in again or open the console again.",
	"confirm.word":   "Type %s first.",
	"confirm.type":   "Type %s:",
	"confirm.how":    "Left and Right move, Enter chooses, Ctrl-Y is Yes. Any other key goes back.",
	"paste.refused":  "Those keys came too fast for a person. Pasted text goes into text fields only.",
	"paste.long":     "%s: more than %d characters. Nothing of it was taken.",
	"help.screen":    "Ctrl-L draws the screen again. If lines look wrong, press m.",
	"help.call":      "Whom to call: %s",
	"help.support":   "the support line on the delivery note; have the code and serial ready",
	"report.loading": "Fetching the report ...",

	"inventory.loading": "Looking at the machine ...",

	"logIn.title":    "Cluster credentials",
	"logIn.loading":  "Asking the cluster; a new password may be made ...",
	"logIn.console":  "Web console  %s",
	"logIn.api":      "API          %s",
	"logIn.user":     "User         %s",
	"logIn.password": "Password     %s",
	"logIn.none":     "Password     none: %s",
	"logIn.alone":    "Only this console shows the password. It opens the whole cluster: write it down or read it out, then close this page. Closing it clears the screen; so do two minutes.",
	"logIn.config":   "For a kubeconfig run, as root:  touchdown credentials --out FILE",
	"logIn.clear":    "Press Enter to move this off the screen.",

	"form.pem":          "Paste, or type a path.",
	"form.example":      "Example: %s",
	"form.set":          "set, not shown",
	"form.pasting":      "line %d, empty line ends",
	"form.draft":        "not sent yet",
	"form.optional":     "optional",
	"form.required":     "needed",
	"form.changed":      "typed, changed",
	"form.needed":       "This is needed.",
	"form.fix":          "%s: see below the field.",
	"form.restored":     "%s: back to what was found.",
	"form.restoredPage": "The whole page is back to what was found.",
	"form.firstPage":    "This is the first page.",
	"yesno.yes":         "(*) yes  ( ) no",
	"yesno.no":          "( ) yes  (*) no",
	"pick.loading":      "looking for choices ...",
	"pick.none":         "nothing to choose from",
	"pick.open":         "press Enter to choose",
	"pick.choice":       "%d  %s",
	"pick.how":          "Up and Down move, Enter chooses, b goes back.",

	"act.doing": "%s: %s.",
	"act.how":   "%s: %s.",
	"act.plain": "%[1]s1, %[1]s2 and so on: %[2]s.",

	"checks.welcome.factory": "This wizard checks this node, prepares it for the road and seals it. It changes nothing before you have seen what it would do and have agreed.",

	"checks.welcome":  "This wizard moves this node to its site. It changes nothing before you have seen what it would do and have agreed.",
	"checks.stale":    "checking",
	"checks.looking":  "....  %s: still looking",
	"checks.expected": "Expected: %s", "checks.source": "   (%s)",
	"checks.waived": "Waived by %s: %s",
	"checks.fix":    "Try: %s",
	"checks.again":  "Looking at the machine again ...",
	"checks.more":   "(%d to %d of %d; Up and Down move)",
	"checks.done":   "Looked at the machine again.",
	"verdict.pass":  "PASS", "verdict.warn": "WARN", "verdict.fail": "FAIL", "verdict.skip": "SKIP", "verdict.waived": "WAIVED",
	"verdict.stale": "checking",

	"restore.title": "Restore the page: %s",
	"restore.text":  "Every answer on this page goes back to what was found on this machine or loaded from a file. What was typed here is lost, secrets and certificates too. One field alone: Ctrl-R in it.",

	"waive.title":  "Waive: %s",
	"waive.text":   "You take responsibility for this check. Your name and the reason go into the report.",
	"waive.by":     "Your name",
	"waive.reason": "Reason",
	"waive.needed": "A waiver needs a name and a reason.",
	"waive.done":   "Waived. It is in the report.",

	"review.asking":       "Looking at what would change; this can take a minute ...",
	"review.problems":     "FIX THESE FIRST",
	"review.warnings":     "Warnings",
	"review.disturbances": "What users of the cluster notice",
	"review.disturbance":  "%s, about %s: %s",
	"review.permanent":    "Cannot be undone",
	"review.changes":      "Changes, in this order",
	"review.skip":         "%s: left out, %s",
	"review.lasts":        "Changes, in this order (%s in all)",
	"about.moment":        "less than a minute",
	"about.minutes":       "about %d min",
	"about.hours":         "about %d h %d min",
	"review.none":         "(none)",
	"review.type":         "To start, type %s:",
	"review.blocked":      "The work cannot start yet: see FIX THESE FIRST. Go back to fix it.",

	"work.count":   "%d/%d",
	"work.of":      "%d of %d %s",
	"work.counted": "%d %s so far",
	"work.elapsed": "Running for %s   engine: %s",
	"work.silent":  "not answering",
	"work.waiting": "Waiting for %s",
	"work.usual":   "normally under %s",
	"work.late":    "This normally takes under %s. It may still finish; press l to see the log.",
	"work.left":    "%s left, done at %s UTC",
	"work.rest":    "%s left after your answer",
	"work.grows":   "This takes longer than usual: waiting for %s.",
	"work.between": "Getting ready for the next step ...",
	"work.undoing": "Putting back: %s",

	"question.default": "(default)",
	"question.until":   "Without an answer the default is taken in %s.",

	"problem.title":    "%s: FAILED",
	"problem.code":     "Code to read over the phone: %s",
	"problem.fix":      "Try: %s",
	"problem.safe":     "Nothing is lost: finished steps and saved originals are kept.",
	"problem.unknown":  "UNKNOWN",
	"problem.stopped":  "The step did not finish.",
	"problem.tryAgain": "Retry it, and look at the log when it fails again.",

	"lost.title":    "Records of this job were lost",
	"lost.text":     "The job continues from what the machine shows. Each step looks first and changes only what is not right.",
	"lost.safe":     "Nothing continues automatically. What can still be read is kept.",
	"does.continue": "continue from what the machine shows", "does.unlock": "let this node be changed again",
	"button.continue": "Continue the job",
	"does.retry":      "run this step again", "does.edit": "back to the questions, everything kept",
	"does.skip": "go on without this step", "does.waive": "take responsibility for a check",
	"does.undo": "put everything back as it was", "does.log": "see what the engine did",
	"does.bundle": "collect everything support needs", "does.stop": "change nothing, close this console",
	"does.help": "what this page is for", "does.pen": "take control, to choose here",

	"cancel.title":   "Stop the work?",
	"cancel.text":    "It stops at the next safe point. The step can be retried, or everything be undone.",
	"skip.title":     "Go on without: %s?",
	"skip.text":      "The report will say that this step was left out by a person. Later steps may fail without it.",
	"undo.title":     "Put everything back?",
	"undo.text":      "What was changed is put back to the saved originals, the last step first. This takes about as long as the work did.",
	"handover.title": "Accept the hand-over?",
	"handover.text":  "Write down the credentials first: later they are shown only when the node is unlocked. Saved originals and secrets are wiped, nothing can be undone any more, and the node is locked.",
	"handover.done":  "The hand-over is accepted.",
	"unlock.title":   "Unlock this node?",
	"unlock.text":    "The node has landed. After unlocking it can be moved again; its users may notice.",
	"move.title":     "Answer the questions again?",
	"move.text":      "Nothing changes until a new review is accepted.",
	"reboot.title":   "Reboot this machine?",
	"reboot.text":    "The cluster is away until the machine has started again.",
	"powerOff.title": "Switch this machine off?",
	"powerOff.text":  "The cluster is away until someone switches the machine on again.",

	"bundle.making": "Collecting the support bundle ...",
	"bundle.saved":  "Support bundle: %s",
	"bundle.where":  "%s, %d kB, SHA-256 begins %s",

	"dashboard.done.factory": "This node is checked and sealed. The work took %s.",

	"dashboard.done":    "This node has landed. The work took %s.",
	"dashboard.undone":  "Everything was put back as it was before.",
	"dashboard.moving":  "This node has landed, and someone began to move it again.",
	"dashboard.locked":  "The hand-over was accepted: this page is read-only until the node is unlocked.",
	"dashboard.address": "Address   %s",
	"dashboard.cluster": "Cluster   %s",
	"dashboard.api":     "API       https://api.%s:6443",
	"dashboard.console": "Console   https://console-openshift-console.apps.%s",
	"dashboard.checks":  "Checks: %s",
	"dashboard.met":     "Problems during the run:",

	"plain.take":      "Type %s to take control:",
	"plain.pen":       "Type %s to take control, or Enter to look again:",
	"plain.alive":     "still at work: %s",
	"plain.silent":    "the engine does not answer; still trying",
	"plain.control":   "control",
	"plain.start":     "To start, type %s; to change an answer, type back:",
	"plain.waive":     "To take responsibility for a check that did not pass, type %s.",
	"plain.waiveWord": "waive",
	"plain.number":    "Number:",

	"log.loading":  "Fetching the log ...",
	"log.empty":    "The log is empty.",
	"log.find":     "Find:",
	"log.found":    "%s is in line %d; find again for the next one.",
	"log.notFound": "%s is not in the log.",
}
