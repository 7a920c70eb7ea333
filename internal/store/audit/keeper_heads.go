package audit

import (
	"bytes"
	"crypto/ed25519"

	"shardboard/internal/store"
)

// headLost finds that the newest signed head, which this process saved, is gone
// from the store. Only this process saves heads, so somebody else removed it.
func (k *Keeper) headLost(e evidence) *Break {
	if k.saved == nil || e.kept != nil && e.kept.Seq >= k.saved.Seq {
		return nil
	}
	return &Break{Code: HeadLost, Seq: k.saved.Seq, At: k.saved.At}
}

// head notes the newest head. Another key than ours is not a break, because keys
// are changed. It is shown, because somebody else may have changed it.
func (k *Keeper) head(e evidence, st *State) {
	if e.kept == nil {
		return
	}
	st.Head = e.kept
	if key := Fingerprint(e.kept.Key); st.Key != "" && key != st.Key && key != st.Other {
		st.Other = key
		k.o.Log.Warn("the last head of the audit record was signed by another key; unless you changed the key, somebody else did", "seq", e.kept.Seq, "key", key, "ours", st.Key)
	}
}

// renewWitness writes the witness file again when it is not as this process wrote
// it. That is no break of the record, but somebody did it, so the log has it.
func (k *Keeper) renewWitness(e evidence) error {
	switch {
	case k.o.Key == nil || k.o.Witness == "":
		return nil
	case k.saved == nil:
		// The witness is written before the store, so it is never the older one.
		if e.kept != nil && bytes.Equal(e.kept.Key, k.o.Key.Public().(ed25519.PublicKey)) && (e.seen == nil || e.seen.Seq < e.kept.Seq) {
			k.o.Log.Warn("the witness file beside the audit key is missing or older than the newest head in the data: it was removed or replaced, or the key or the data directory was moved. Whether records were cut off before this start is not known", "file", string(k.o.Witness), "seq", e.kept.Seq)
			return k.o.Witness.Save(*e.kept)
		}
		return nil
	case e.seen != nil && sameHead(*e.seen, *k.saved):
		return nil
	}
	k.o.Log.Error("the witness file of the audit record was removed or changed by somebody else; it is written again", "file", string(k.o.Witness), "seq", k.saved.Seq)
	return k.o.Witness.Save(*k.saved)
}

func sameHead(a, b store.AuditHead) bool {
	return a.Seq == b.Seq && bytes.Equal(a.Hash, b.Hash) && bytes.Equal(a.Signature, b.Signature)
}
