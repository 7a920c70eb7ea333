package auth

import (
	"slices"
	"strings"

	"shardboard/internal/fault"
)

// Mode lists the sign-in methods: "none", "demo", or any of "local", "oidc" and "proxy", separated
// by commas. The zero Mode is invalid.
type Mode string

// The sign-in methods.
const (
	ModeLocal Mode = "local" // accounts with names and passwords kept here
	ModeOIDC  Mode = "oidc"
	ModeProxy Mode = "proxy" // a reverse proxy names the user in a header
	ModeNone  Mode = "none"  // no sign-in: every visitor has the admin role
	ModeDemo  Mode = "demo"  // no sign-in: every visitor is the demo's operator
)

// ParseMode parses a list of methods. None and demo cannot be combined with others.
func ParseMode(s string) (Mode, error) {
	if s == "" {
		return "", fault.New(fault.Invalid, "No sign-in method was chosen. Use --auth local, oidc or proxy, or --auth none on loopback.")
	}
	var have []string
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if !slices.Contains([]Mode{ModeLocal, ModeOIDC, ModeProxy, ModeNone, ModeDemo}, Mode(part)) {
			return "", fault.New(
				fault.Invalid,
				"Unknown sign-in method %q. Use local, oidc, proxy, several of them separated by commas, or none.",
				part,
			)
		}
		if !slices.Contains(have, part) {
			have = append(have, part)
		}
	}
	m := Mode(strings.Join(have, ","))
	if m.Off() && len(have) > 1 {
		return "", fault.New(fault.Invalid, "Sign-in cannot be both off and on: %q. Use none alone, or leave it out.", s)
	}
	return m, nil
}

// Has reports whether a method is enabled.
func (m Mode) Has(way Mode) bool {
	return m != "" && slices.Contains(strings.Split(string(m), ","), string(way))
}

// Off reports whether sign-in is off.
func (m Mode) Off() bool { return m.Has(ModeNone) || m.Has(ModeDemo) }
