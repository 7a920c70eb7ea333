package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"shardboard/internal/actions"
	"shardboard/internal/topology"
)

// approvalDigest identifies what a second person approves: the plan, its commands and what they require,
// its limits, and what it was expected to move. Every part is preceded by its length.
func approvalDigest(p actions.Plan) string {
	h := digest{sha256.New()}
	for _, text := range []string{p.ID, p.Hash, p.Cluster, string(p.Kind), string(p.Args.JSON()), p.UndoOf, p.By.ID, p.By.Person()} {
		h.text(text)
	}
	l := p.Limits
	lists := [][]string{{l.Project}, l.Zones, l.Shards, nil}
	for _, ns := range l.Collections {
		lists[3] = append(lists[3], string(ns))
	}
	if len(l.Without) > 0 { // only then, so that approvals of earlier releases go on counting
		lists = append(lists, nil)
		for _, k := range l.Without {
			lists[4] = append(lists[4], string(k))
		}
	}
	for _, list := range lists {
		h.number(len(list))
		for _, text := range list {
			h.text(text)
		}
	}
	h.number(l.Chunks)
	figures := []topology.Figure{l.Bytes, p.Effect.Bytes, p.Effect.Chunks}
	if b := p.Effect.ByBalancer; b != nil { // likewise
		figures = append(figures, b.Bytes, b.Chunks)
	}
	for _, f := range figures {
		h.text(fmt.Sprint(f.Known, f.Value, f.PlusMinus))
	}
	return hex.EncodeToString(h.Sum(nil))
}
