package answer

import (
	"strings"
)

// RecordName tells whether a text can be the id of a plan or a run: 128 bits in
// base32.
func RecordName(id string) bool {
	return len(id) == 26 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
