package hardware

import "touchdown/backend/message"

// word is what the inventory tells of a part in a word that the program chose, for a person. Versions such as 2.0, and what the machine
// says itself, are data.
func word(told string) message.Text {
	switch told {
	case "none":
		return message.T("none found")
	case "on":
		return message.T("on")
	case "off":
		return message.T("off")
	case "up":
		return message.T("up")
	case "down":
		return message.T("down")
	case "not supported":
		return message.T("not supported")
	case "unknown":
		return message.T("unknown")
	case "instruction":
		return message.T("instruction")
	case "data":
		return message.T("data")
	case "unified":
		return message.T("unified")
	case "hub":
		return message.T("hub")
	case "persistent memory":
		return message.T("persistent memory")
	}
	return message.Data(told)
}

// firmware is its version, nothing without one.
func firmware(version string) message.Text {
	return with(version, message.F("firmware %s", version))
}
