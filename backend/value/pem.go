package value

import (
	"bytes"
	"encoding/pem"
)

// PEM reads the blocks of a text, which may have words between them. encoding/pem passes over a block that it cannot read, so that an
// authority in the middle of a bundle would be lost: torn is the number of the first such block, counted from 1, and 0 where all were read.
func PEM(text []byte) (blocks []*pem.Block, torn int) {
	for {
		block, rest := pem.Decode(text)
		if read := text[:len(text)-len(rest)]; torn == 0 && block != nil && marks(read) > 1 || torn == 0 && block == nil && marks(text) > 0 {
			torn = len(blocks) + 1
		}
		if block == nil {
			return blocks, torn
		}
		blocks, text = append(blocks, block), rest
	}
}

// marks is how many blocks begin or end in a text, whichever are more: a copy may have lost a part of either line.
func marks(text []byte) int {
	return max(bytes.Count(text, []byte("-----BEGIN ")), bytes.Count(text, []byte("-----END ")))
}
