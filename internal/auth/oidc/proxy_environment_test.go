package oidc

import (
	"testing"

	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/proxyenv"
)

func TestTheProxyOfTheEnvironmentIsUsed(t *testing.T) {
	proxyenv.Check(t, func(issuer string) {
		i, err := New(Options{Issuer: issuer, ClientID: "board", RedirectURL: "https://board.invalid/callback"})
		must.Do(t, err)
		if _, err := i.Address(t.Context(), "s", "n", "v"); err == nil {
			t.Error("nobody is there")
		}
	})
}
