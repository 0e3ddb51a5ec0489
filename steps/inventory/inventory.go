// Package inventory shows the engine's inventory of the machine in the language of a console.
package inventory

import (
	"touchdown/backend/hardware"
	"touchdown/backend/message"
)

// Text is the document engine.InventoryPage as lines of 80 columns, in the language of show.
func Text(data []byte, show func(message.Text) string) (string, error) {
	page, err := hardware.ReadPage(data)
	if err != nil {
		return "", err
	}
	return page.Text(show), nil
}
