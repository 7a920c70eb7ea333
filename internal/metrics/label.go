package metrics

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"shardboard/internal/sanitize"
)

// maxLabel is how many bytes of a name from the cluster a label has.
const maxLabel = 120

// otherLabel stands for all that has no series of its own. No name from the cluster becomes this label.
const otherLabel = "other"

// labelOf makes a label of a name from the cluster: printable and not long. A name that is changed gets a hash of
// itself, because two names must never become the same label: one such pair makes the whole scrape fail.
func labelOf(name string) string {
	clean := sanitize.Line(strings.ToValidUTF8(name, "\uFFFD"))
	if clean == name && len(clean) <= maxLabel && name != otherLabel && name != "" {
		return name
	}
	if len(clean) > maxLabel {
		cut := maxLabel
		for cut > 0 && !utf8.RuneStart(clean[cut]) {
			cut--
		}
		clean = clean[:cut]
	}
	sum := sha256.Sum256([]byte(name))
	return clean + "~" + hex.EncodeToString(sum[:6])
}
