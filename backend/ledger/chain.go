package ledger

import (
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
)

// Chain is what Verify found.
type Chain struct {
	Lines     int    `json:"lines"`
	Unchained int    `json:"unchained"`       // of them: an earlier release wrote them, without the digest of those before
	Digest    string `json:"sha256"`          // of all lines; who notes it can prove later that they are still there
	Since     int    `json:"since,omitempty"` // lines that have the digest that was noted
}

// Verify reads a ledger, and fails where a line was changed, removed, inserted or moved since a line behind it was written. It cannot
// tell whether there were more lines at the end: for that it takes the digest of an earlier Verify ("": none), and fails when the
// ledger does not begin with the lines that had it.
func Verify(path, since string) (c Chain, err error) {
	begins := false
	all, err := scan(path, func(before string, line []byte, e Entry) error {
		if before == since {
			c.Since, begins = c.Lines, true
		}
		c.Lines++
		if e.Before == "" {
			c.Unchained++
		}
		return value.OneMeaning(line)
	})
	if err != nil {
		return Chain{}, err
	}
	if c.Digest = all.digest(); c.Digest == since {
		c.Since, begins = c.Lines, true
	}
	if since != "" && !begins {
		return c, &problem.Problem{
			Code: "FAC-LCUT", Summary: message.F("The ledger %s does not begin with the lines whose digest was noted.", path),
			Fix: message.T("Lines were removed or changed since, or the digest is of another ledger. Compare it with the backup of that day."),
		}
	}
	return c, nil
}

// broken is the place where the lines of a ledger are not those that were there.
type broken struct{ line int }

func (*broken) Error() string { return "the lines before it have changed since it was written" }

func (b *broken) problem(path string, err error) error {
	return &problem.Problem{
		Code: "FAC-LCHN", Summary: message.F("The ledger %s was changed before its line %d: a line was removed, inserted, moved or edited.", path, b.line),
		Fix: message.T("If the change was meant, remove the key \"before\" from all lines (cmd/touchdown/README.md). Otherwise take the ledger from its backup, and add the nodes that were sealed since."), Err: err,
	}
}
