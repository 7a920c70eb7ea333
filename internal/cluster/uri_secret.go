package cluster

import (
	"net/url"
	"strings"
)

// HoldsSecret reports whether the address contains a password or a secret option, so
// that it must not be readable by others.
func (u URI) HoldsSecret() bool {
	if u.IsZero() {
		return false
	}
	rest, query, _ := strings.Cut(u.reveal()[len(u.scheme):], "?")
	authority, _, _ := strings.Cut(rest, "/")
	if user, _, signsIn := strings.Cut(authority, "@"); signsIn {
		if _, password, _ := strings.Cut(user, ":"); password != "" {
			return true
		}
	}
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(pair, "=")
		switch strings.ToLower(name) {
		case "tlscertificatekeyfilepassword", "sslclientcertificatekeypassword", "proxypassword":
			if value != "" {
				return true
			}
		case "authmechanismproperties":
			if plain, err := url.QueryUnescape(value); err != nil || strings.Contains(strings.ToLower(plain), "token:") {
				return true
			}
		}
	}
	return false
}
