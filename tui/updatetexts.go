package tui

// updateTexts are the texts of the page about a release of Touchdown on a stick.
var updateTexts = map[string]string{
	"button.update":    "Update now",
	"button.updateNot": "Not now",

	"update.found":           "Touchdown %s is on the stick %s",
	"update.now":             "This node runs %s. The release is signed with key %s, which this node trusts for releases. Its program was read and starts here.",
	"update.how":             "An update takes about a minute. Leave the stick in. Engine and consoles start again; answers, journal, report and the cluster stay unchanged. If the new engine does not answer, the node keeps %s; a power cut does no harm. To be asked again after \"Not now\", put the stick in again.",
	"update.briefly":         "Leave the stick in. If the new engine does not answer, the node keeps %s; a power cut does no harm.",
	"update.ordered":         "The stick has an order for this node: with nobody there, the update starts automatically after a countdown, which any key stops.",
	"update.unordered":       "No automatic update. %s %s (%s)",
	"update.sure":            "Update Touchdown to %s?",
	"update.landed":          "The cluster and its users notice nothing. The consoles of this node start again, and a node that was unlocked is locked again.",
	"update.runs":            "Touchdown is being updated to %s",
	"update.reads":           "The release is read from the stick and checked once more. Leave the stick in.",
	"update.tries":           "The engine of the new program is being tried. Only when it has answered does the program take its place.",
	"update.meanwhile":       "For a few seconds the engine does not answer, and then this console starts again. If that fails, the node keeps %s.",
	"update.refused":         "The release of Touchdown on the stick %s is not used",
	"update.refused.unnamed": "No release of Touchdown on a stick is used",
	"update.failed":          "Touchdown was not updated from the stick %s",
	"update.failed.unnamed":  "Touchdown was not updated",
	"update.nothing":         "The node keeps its program.",

	"plain.update":     "There is a release of Touchdown on a stick",
	"plain.updateOnly": "%s.",
	"plain.updateAsks": "%s. An empty line leads to the question about it.",
	"plain.updateWhy":  "%s. An empty line leads to the reason.",
}
