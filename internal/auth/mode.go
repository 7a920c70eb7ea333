package auth

import (
	"slices"
	"strings"

	"shardboard/internal/fault"
)

// Mode says by which ways people come in: "none", "demo", or any of "local",
// "oidc" and "proxy", separated by commas. The zero Mode is refused.
type Mode string

// The ways to come in.
const (
	ModeLocal Mode = "local" // names and passwords of our own
	ModeOIDC  Mode = "oidc"
	ModeProxy Mode = "proxy" // a reverse proxy's header
	ModeNone  Mode = "none"  // no sign-in: every visitor may do everything
	ModeDemo  Mode = "demo"  // no sign-in: everybody is the demo's operator
)

// ParseMode reads a list of ways. None and demo stand alone.
func ParseMode(s string) (Mode, error) {
	if s == "" {
		return "", fault.New(fault.Invalid, "No way to sign in was chosen. Use --auth local, oidc or proxy, or --auth none on loopback.")
	}
	var have []string
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if !slices.Contains([]Mode{ModeLocal, ModeOIDC, ModeProxy, ModeNone, ModeDemo}, Mode(part)) {
			return "", fault.New(fault.Invalid, "There is no way to sign in called %q. Use local, oidc, proxy, several of them with commas, or none.", part)
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

// Has tells whether a way is among them.
func (m Mode) Has(way Mode) bool {
	return m != "" && slices.Contains(strings.Split(string(m), ","), string(way))
}

// Off tells whether nobody needs to sign in.
func (m Mode) Off() bool { return m.Has(ModeNone) || m.Has(ModeDemo) }
