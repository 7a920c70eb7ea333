package data

import (
	"strconv"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/topology"
)

// What was not read, or what a release does not have, is unknown and not the default.
func TestSettingsOfACollectionAreShownWhereTheyAreKnown(t *testing.T) {
	shown := func(b *bool) string {
		if b == nil {
			return "unknown"
		}
		return strconv.FormatBool(*b)
	}
	moving := topology.Upkeep{Defragmenting: true, Phase: topology.PhaseMoveAndMerge}
	for name, x := range map[string]struct {
		release       string
		upkeep        topology.Upkeep
		merge, defrag string
		flags         int
		text          string
	}{
		"an old release":      {"5.0.7", topology.Upkeep{}, "unknown", "unknown", 0, ""},
		"before merging":      {"6.0.9", topology.Upkeep{}, "unknown", "false", 0, ""},
		"as usual":            {"7.0.2", topology.Upkeep{}, "true", "false", 0, ""},
		"merging off":         {"7.0.2", topology.Upkeep{AutoMergeOff: true}, "false", "false", 1, ""},
		"defragmenting":       {"7.0.2", moving, "true", "true", 1, "2 of 3: moving to merge"},
		"not begun":           {"7.0.2", topology.Upkeep{Defragmenting: true}, "true", "true", 1, "not begun"},
		"a phase of tomorrow": {"9.0.0", topology.Upkeep{Defragmenting: true, Phase: "polish"}, "true", "true", 1, "polish"},
		"not recorded":        {"7.0.2", topology.Upkeep{Unrecorded: true}, "unknown", "unknown", 0, ""},
		"an unknown release":  {"", topology.Upkeep{}, "unknown", "unknown", 0, ""},
	} {
		c := &topology.Collection{Meta: topology.Meta{NS: "a.b", Upkeep: x.upkeep}}
		table := &topology.Table{}
		table.ServerInfo.Version = x.release
		out := api.Collection{Sharded: true}
		upkeepOf(table, c, &out)
		if shown(out.AutoMerge) != x.merge || shown(out.Defragmenting) != x.defrag || len(UpkeepFlags(out)) != x.flags ||
			DefragmentationText(out) != x.text {
			t.Errorf("%s: %s, %s, %v, %q", name, shown(out.AutoMerge), shown(out.Defragmenting), UpkeepFlags(out), DefragmentationText(out))
		}
	}
	sized := api.Collection{Sharded: true}
	upkeepOf(&topology.Table{}, &topology.Collection{Meta: topology.Meta{MaxChunkBytes: 7 << 20}}, &sized)
	if flags := UpkeepFlags(sized); sized.ChunkSizeBytes != 7<<20 || len(flags) != 1 || flags[0][0] != "own chunk size" {
		t.Errorf("a size of its own: %d, %v", sized.ChunkSizeBytes, flags)
	}
}
