package wanted

import (
	"strings"

	"touchdown/backend/message"
)

// What needs images and is not an object of the cluster, as a Needer's Who begins.
const (
	ofUnit       = "unit "
	staticPod    = "static pod "
	payload      = "release payload"
	pauseImage   = "pause image of CRI-O"
	pauseRunning = "pause image of CRI-O as it runs"
)

// Named is who needs an image, for a person. Kinds and names of the cluster's objects are the same in every language.
func (n Needer) Named() message.Text { return Named(n.Who) }

// Named is what a Needer's Who says, for a person.
func Named(who string) message.Text {
	switch who {
	case payload:
		return message.T(payload)
	case pauseImage:
		return message.T(pauseImage)
	case pauseRunning:
		return message.T(pauseRunning)
	}
	if name, is := strings.CutPrefix(who, ofUnit); is {
		return message.F("unit %s", name)
	}
	if name, is := strings.CutPrefix(who, staticPod); is {
		return message.F("static pod %s", name)
	}
	return message.Data(who)
}
