package answer

import (
	"strings"
)

// sameID keeps the id of a problem whose bounds are hidden: alerts go by it.
func sameID(id string) string {
	_, rest, _ := strings.Cut(id, ".")
	return rest
}
