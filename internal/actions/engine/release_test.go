package engine

import (
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

func TestNothingIsPlannedBeforeTheReleaseIsKnown(t *testing.T) {
	for version, want := range map[string]bool{"": false, "none": false, "8.x": false, "4.4.0": true, "9.0.1-rc2": true} {
		table := &topology.Table{ServerInfo: topology.ServerInfo{Version: version}}
		err := needsRelease(actions.Situation{Table: table, Release: balance.ReleaseOf(version)})
		if (err == nil) != want || err != nil && fault.Of(err) != fault.Unavailable {
			t.Errorf("%q: got %v", version, err)
		}
	}
}
