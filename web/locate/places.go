package locate

import (
	"cmp"
	"fmt"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/placement"
)

// itemID is the id to copy; a shard key is its own title.
func itemID(it api.LocateItem) string {
	if it.Kind == "key" {
		return ""
	}
	return it.ShownID()
}

func projectName(it api.LocateItem) string {
	return cmp.Or(strings.TrimSpace(it.ProjectName), it.ShownProject())
}

// columns says which columns some place has something for.
func columns(list []api.Place) (hashed, zoned bool) {
	for _, p := range list {
		hashed, zoned = hashed || p.Hash != nil, zoned || p.Zone != ""
	}
	return hashed, zoned
}

// certainty says why a place is on these shards, where that is not its chunk.
func certainty(p api.Place) string {
	if p.State != "absent" && p.Sharded && !p.Exact {
		return "any of these"
	}
	return ""
}

// there says whether a place has rows.
func there(p api.Place) string {
	if p.Rows != nil && p.Rows.Value != nil && p.State != "absent" {
		if *p.Rows.Value == 0 {
			return "no row"
		}
		return format.Count(*p.Rows.Value) + message.Plural(*p.Rows.Value, " row", " rows")
	}
	switch p.State {
	case "yes":
		return "seen"
	case "would-be":
		return "not counted"
	case "unknown":
		return "not checked"
	case "absent":
		return "no such collection"
	}
	return p.State
}

func moving(m api.MovingPlace) string {
	what := "Moving"
	if !m.Whole {
		what = "A part of this is moving"
	}
	return fmt.Sprintf("%s from %s to %s now: the answer changes when that commits.", what, m.From, m.To)
}

// proofLevel is how serious the result of a proof is.
func proofLevel(state string) string {
	switch placement.ProofState(state) {
	case placement.ProofAgrees, placement.ProofCaughtUp:
		return "ok"
	case placement.ProofDiffers:
		return "bad"
	}
	return "note"
}
