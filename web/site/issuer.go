package site

import (
	"strings"

	"shardboard/internal/sanitize"
)

// issuersID is what an issuer calls somebody who came by OIDC. It stands beside the
// name: two people can have the same name, and one can have several in time. ""
// where it says nothing new.
func IssuersID(principal, name string) string {
	parts := strings.SplitN(principal, ":", 3)
	if len(parts) != 3 || parts[0] != "oidc" || parts[2] == name {
		return ""
	}
	return sanitize.Truncate(parts[2], 80)
}
