package storetest

import (
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func settings(t *testing.T, open func(*testing.T) store.Store) {
	ctx, s := t.Context(), open(t)
	wants(t, "a setting that was never set", must.Err(s.Setting(ctx, "a")), fault.NotFound)
	for _, value := range []string{`{"x":1}`, "", "문서\x00'; DROP TABLE settings"} {
		must.Do(t, s.SetSetting(ctx, "a", value))
		if got, err := s.Setting(ctx, "a"); err != nil || got != value {
			t.Errorf("%q came back as %q, %v", value, got, err)
		}
	}
	wants(t, "another name", must.Err(s.Setting(ctx, "A")), fault.NotFound)
}
