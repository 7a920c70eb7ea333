package app

import (
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
)

func TestApprovalLimitsAreReadAndMistakesNamed(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "10GB": 1e10, "10 GB": 1e10, "1.5GiB": 3 << 29, "500kB": 5e5, "1B": 1,
		"999999TiB": 999999 << 40} {
		got, err := ReadApprovalBytes(text)
		expect.That(t, err == nil && got == want, "%q: %d, %v", text, got, err)
	}
	for _, text := range []string{"10", "GB", "-1GB", "0GB", "0.1B", "10gb", "1e9B", "10GB ", "1,5GB", "9999999TB", "\x1b"} {
		refused.With(t, must.Err(ReadApprovalBytes(text)), fault.Invalid, "--approval-bytes", "%q", text)
	}
	for _, wait := range []time.Duration{time.Minute, 25 * time.Hour, -time.Hour} {
		refused.As(t, must.Err(ReadApproval("", 0, nil, wait)), fault.Invalid, "%s", wait)
	}
	refused.As(t, must.Err(ReadApproval("", -1, nil, 0)), fault.Invalid, "ReadApproval")
}

func TestApprovalNeedsSignIn(t *testing.T) {
	on := Approval{Rules: actions.ApprovalRules{Chunks: 1}}
	for mode, ok := range map[string]bool{"none": false, "demo": false, "local": true, "local,oidc": true, "proxy": true} {
		err := on.checkSignIn(mode)
		expect.That(t, (err == nil) == ok && (err == nil || strings.Contains(fault.Text(err), "need sign-in")), "%s: %v", mode, err)
	}
	expect.NoError(t, (Approval{Wait: time.Hour}).checkSignIn("none"), "nothing needs approval")
}
