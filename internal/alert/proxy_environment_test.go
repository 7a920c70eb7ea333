package alert

import (
	"testing"

	"shardboard/internal/fixture/proxyenv"
)

func TestTheProxyOfTheEnvironmentIsUsed(t *testing.T) {
	proxyenv.Check(t, func(receiver string) {
		if got := post(t.Context(), newClient(nil), newSecret(receiver), nil); got.ok() {
			t.Error("nobody is there")
		}
	})
}
