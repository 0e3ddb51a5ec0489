package tui

// shortTexts are the names of keys, buttons, units and sources: what stands on a screen without a sentence around it.
var shortTexts = map[string]string{
	"product": "Touchdown",
	"yes":     "yes",
	"no":      "no",

	"key.next": "next", "key.prev": "previous", "key.up": "move", "key.down": "move", "key.left": "change",
	"key.right": "change", "key.enter": "choose", "key.accept": "next", "key.toggle": "change", "key.pageUp": "scroll",
	"key.pageDown": "scroll", "key.first": "start", "key.last": "end", "key.back": "back", "key.help": "help",
	"key.control": "take control", "key.log": "log", "key.repaint": "repaint", "key.mode": "colours", "key.leave": "leave",
	"key.restore": "restore", "key.restorePage": "restore page", "key.erase": "empty", "key.delLeft": "delete", "key.delRight": "delete",
	"key.yes": "yes", "key.no": "no", "key.find": "find", "key.follow": "follow", "key.grave": "warnings", "key.journal": "node", "key.again": "look again",
	"key.goOn": "continue", "key.waive": "waive", "key.withdraw": "withdraw waiver", "key.retry": "retry", "key.edit": "edit", "key.skip": "skip",
	"key.undo": "undo", "key.bundle": "support bundle", "key.stop": "stop", "key.report": "report",
	"key.handover": "hand over", "key.unlock": "unlock", "key.reboot": "reboot", "key.powerOff": "power off",
	"key.checks": "checks", "key.evidence": "show all", "key.language": "language", "key.keyboard": "keyboard", "key.act": "try", "key.inventory": "inventory", "key.part": "part", "key.logIn": "credentials", "key.advanced": "advanced", "key.files": "file on a stick", "key.fitness": "verdict", "key.profile": "profile", "key.diskTest": "disk test", "key.close": "close", "key.cancel": "cancel",

	// Names of keys, as they stand on most keyboards of the language.
	"cap.tab": "Tab", "cap.enter": "Enter", "cap.space": "Space", "cap.esc": "Esc", "cap.home": "Home", "cap.end": "End",
	"cap.up": "Up", "cap.down": "Down", "cap.left": "Left", "cap.right": "Right", "cap.shift+tab": "Shift-Tab",
	"cap.pgup": "PgUp", "cap.pgdown": "PgDn", "cap.updown": "Up/Down", "cap.leftright": "Left/Right", "cap.ctrl": "Ctrl-%s",

	// Words of the engine that are none of its sentences.
	"life.factory": "factory", "life.baked": "baked", "life.armed": "armed", "life.landing": "landing", "life.landed": "landed",
	"life.returning": "returning", "life.returned": "returned", "life.moving again": "moving again",
	"unit.MiB": "MiB", "unit.images": "images", "unit.names": "names", "unit.operators": "operators", "unit.applications": "applications",
	"unit.parts": "parts", "unit.seconds": "seconds", "unit.requests": "requests", "unit.certificates": "certificates",
	"source.default": "default", "source.typed": "typed", "source.current": "current", "source.DHCP": "DHCP",
	"source.router advertisement": "router advertisement", "source.file": "file %s", "source.stick": "stick %s", "source.chosen": "%[1]s, stick %[2]s", "source.factory": "factory",
	"source.tried": "tried: %s",

	"button.goOn": "Continue", "button.back": "Back", "button.goBack": "Go back", "button.goTo": "Go to: %s", "button.advanced": "%s: %s",
	"plain.advanced": "%d  %s: %s", "advanced.none": "none set", "advanced.set": "%d set", "advanced.wrong": "%d to fix",
	"button.restorePage": "Restore page",
	"button.again":       "Look again", "button.checks": "Checks: %s", "button.log": "Log", "button.help": "Help",
	"button.leave": "Leave", "button.control": "Take control", "button.start": "Start the work", "button.waive": "Waive", "button.withdraw": "Withdraw waiver",
	"button.cancel": "Stop the work", "button.retry": "Retry", "button.edit": "Edit answers", "button.skip": "Skip step",
	"button.undo": "Undo", "button.bundle": "Support bundle", "button.summary": "Support summary on this line", "button.stop": "Stop here", "button.report": "Report",
	"button.reboot": "Reboot", "button.powerOff": "Power off", "button.move": "Move again", "button.recheck": "Check again",
	"button.files": "File on a stick", "button.inventory": "Inventory", "button.fitness": "Verdict", "button.profile": "Next profile", "button.diskTest": "Test the disk", "button.diskStop": "Stop the test", "button.diskForget": "Forget the test", "button.keyboard": "Keyboard", "button.logIn": "Credentials", "button.handover": "Hand over", "button.unlock": "Unlock", "button.no": "No, go back", "button.yes": "Yes",
	"button.close": "Close", "button.find": "Find", "button.older": "Older", "button.newer": "Newer",
	"button.follow": "Follow", "button.unfollow": "Stop following", "button.grave": "Warnings", "button.allLines": "All lines", "button.journal": "Node's journal",
}
