package storetest

import (
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

func settings(t *testing.T, open func(*testing.T) store.Store) {
	ctx, s := t.Context(), open(t)
	_, err := s.Setting(ctx, "a")
	wants(t, "a setting that was never set", err, fault.NotFound)
	for _, value := range []string{`{"x":1}`, "", "문서\x00'; DROP TABLE settings"} {
		must(t, s.SetSetting(ctx, "a", value))
		if got, err := s.Setting(ctx, "a"); err != nil || got != value {
			t.Errorf("%q came back as %q, %v", value, got, err)
		}
	}
	_, err = s.Setting(ctx, "A")
	wants(t, "another name", err, fault.NotFound)
}
