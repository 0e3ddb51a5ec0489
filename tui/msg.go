package tui

import (
	"touchdown/steps/handout"
	"touchdown/steps/records"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// snapshot is a snapshot and when it was asked for: answers may overtake each other.
type snapshot struct {
	snap *view.Snapshot
	err  error
	n    uint64
}

// The messages. Each brings what a command found out.
type (
	resizedMsg struct{ w, h int } // of the terminal; 0 is not known

	snapshotMsg struct{ snapshot } // someone asked for a fresh snapshot
	eventMsg    struct{ snapshot } // something happened in the engine; ask to wait for the next
	setMsg      struct {           // a field was set
		snapshot
		path, typed string // the field, and what stands in it: its value, or the path of a file that holds it
		failed      error
		stale       bool // a newer value of the same field is on its way
	}
	actMsg struct { // an action was carried out
		snapshot
		action session.Action
		failed error
	}
	restoredMsg struct { // fields went back to what was found
		snapshot
		paths  []string
		says   string // when it went well
		failed error
	}
	controlMsg struct { // control was asked for
		snapshot
		force  bool
		failed error
	}
	presentMsg struct { // the engine was told that a person is here
		snapshot
		pin    bool // with a PIN
		failed error
	}
	logMsg struct { // the log's last lines
		ask    records.Ask
		lines  []string
		failed error
	}
	paneMsg struct{ logMsg } // the same, for the pane
	docMsg  struct {         // a document
		what   session.Document
		data   []byte
		saved  string
		sum    string // SHA-256 of what was saved, in hexadecimal
		failed error
	}
	offerMsg struct { // an offer of a support bundle began or ended
		snapshot
		failed error
	}
	keyboardMsg struct { // the layouts of the keyboard were looked up, or one was loaded
		layouts []string
		chosen  string // by a person just now, or ""
		failed  error
	}
	logInOverMsg struct{} // the credentials were on the screen for as long as they may
	logInMsg     struct { // the credentials of the cluster
		got    *handout.LogIn
		failed error
	}
	batchMsg struct { // keys that came together, or faster than hands type
		items []item
		first bool // they do not go on from the batch before
	}
	tickMsg  struct{ generation int } // time to look at the clock
	flashMsg struct{ text string }    // one sentence for the person
)
