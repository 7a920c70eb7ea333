package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
)

// planHash is the SHA-256 of the commands of a plan and their preconditions, in hex.
// Two plans with the same hash do the same under the same conditions. Every part is
// preceded by its length, so that different lists of parts never produce the same
// input.
func planHash(steps []operation.Step, commands []operation.Command) (string, error) {
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
		if x := s.Item; x != nil {
			h.number(x.Group)
			h.text(string(x.Kind))
			a, err := actions.ItemArgs(x)
			if err != nil {
				return "", err
			}
			h.text(string(a.JSON()))
			h.text(x.UndoOf)
			h.text(x.Hash)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

type digest struct{ hash.Hash }

func (d digest) number(n int) { d.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }

func (d digest) text(s string) {
	d.number(len(s))
	d.Write([]byte(s))
}

func (d digest) fact(f operation.Fact) {
	d.text(factIdentity(f))
	d.number(len(f.Want))
	for _, field := range slices.Sorted(maps.Keys(f.Want)) {
		d.text(field)
		d.text(f.Want[field])
	}
}

// factIdentity is what a fact is about, without its expected values.
func factIdentity(f operation.Fact) string {
	id := fmt.Sprintf("%q %q %x %x %q %q", f.Kind, f.NS, []byte(f.Min), []byte(f.Max), f.Shard, f.Zone)
	if f.DB != "" {
		id += fmt.Sprintf(" %q", f.DB) // only here, so that plans of earlier versions keep their hash
	}
	return id
}
