package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
)

// hashOf is SHA-256 over what a plan sends and what it needs, in hex: two plans
// with the same hash do the same under the same conditions. Every part has its
// length before it, so that no two lists of parts look alike.
func hashOf(steps []actions.Step, commands []actions.Command) string {
	h := digest{sha256.New()}
	h.number(len(steps))
	for i, s := range steps {
		h.text(string(s.Op))
		h.text(commands[i].DB)
		h.text(string(commands[i].Doc))
		h.number(len(s.Needs))
		for _, f := range s.Needs {
			h.fact(f)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

type digest struct{ hash.Hash }

func (d digest) number(n int) { d.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }

func (d digest) text(s string) {
	d.number(len(s))
	d.Write([]byte(s))
}

func (d digest) fact(f actions.Fact) {
	d.text(identity(f))
	d.number(len(f.Want))
	for _, field := range slices.Sorted(maps.Keys(f.Want)) {
		d.text(field)
		d.text(f.Want[field])
	}
}

// identity is what a fact is about, without what is wanted of it.
func identity(f actions.Fact) string {
	return fmt.Sprintf("%q %q %x %x %q %q", f.Kind, f.NS, []byte(f.Min), []byte(f.Max), f.Shard, f.Zone)
}

// changes are the differences between a plan and what would be planned now,
// field by field: of what both need, of what only the old one needs as the table
// has it now, and, if that says nothing, of the commands.
func changes(old actions.Plan, fresh actions.Plan, now func(actions.Fact) map[string]string) []actions.Difference {
	out := changedFacts(old, fresh, now)
	if len(out) > 0 {
		return out
	}
	for i := range max(len(old.Commands), len(fresh.Commands)) {
		var was, is actions.Command
		if i < len(old.Commands) {
			was = old.Commands[i]
		}
		if i < len(fresh.Commands) {
			is = fresh.Commands[i]
		}
		if !was.Equal(is) {
			out = append(out, actions.Difference{Field: "command", Want: text(was.Doc), Got: text(is.Doc)})
		}
	}
	return out
}

// changedFacts are the changes without those of the commands. When several steps
// need a fact, only the first describes the cluster as it is; what the others need
// may be brought about by earlier steps.
func changedFacts(old actions.Plan, fresh actions.Plan, now func(actions.Fact) map[string]string) []actions.Difference {
	needs := map[string]actions.Fact{}
	for _, s := range fresh.Steps {
		for _, f := range s.Needs {
			if id := identity(f); needs[id].Kind == "" {
				needs[id] = f
			}
		}
	}
	var out []actions.Difference
	seen := map[string]bool{}
	for i, s := range old.Steps {
		for _, f := range s.Needs {
			id := identity(f)
			if seen[id] {
				continue
			}
			seen[id] = true
			switch twin, ok := needs[id]; {
			case ok:
				out = append(out, f.Against(twin.Want)...)
			case i == 0: // what later steps need may be made by earlier ones
				out = append(out, f.Against(now(f))...)
			}
		}
	}
	return out
}

func text(doc bson.Raw) string {
	if doc == nil {
		return ""
	}
	return doc.String()
}
