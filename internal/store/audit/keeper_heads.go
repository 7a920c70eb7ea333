package audit

import (
	"bytes"
	"crypto/ed25519"

	"shardboard/internal/store"
)

// headLost is the break when the newest head that this process saved is gone from the store. Only
// this process saves heads, so somebody else removed it.
func (k *Keeper) headLost(e evidence) *Break {
	if k.lastSaved == nil || e.storeHead != nil && e.storeHead.Seq >= k.lastSaved.Seq {
		return nil
	}
	return &Break{Code: HeadLost, Seq: k.lastSaved.Seq, At: k.lastSaved.At}
}

// recordHead stores the newest head in the state. A head signed by another key is not a break,
// because keys are replaced, but it is reported, because somebody else may have signed it.
func (k *Keeper) recordHead(e evidence, st *State) {
	if e.storeHead == nil {
		return
	}
	st.Head = e.storeHead
	if key := Fingerprint(e.storeHead.Key); st.Key != "" && key != st.Key && key != st.Other {
		st.Other = key
		k.o.Log.Warn(
			"the last head of the audit record was signed by another key; unless you changed the key, somebody else did",
			"seq", e.storeHead.Seq, "key", key, "ours", st.Key)
	}
}

// renewWitness rewrites the witness file when it differs from what this process wrote. That is not
// a break of the record, but it is logged, because somebody changed the file.
func (k *Keeper) renewWitness(e evidence) error {
	switch {
	case k.o.Key == nil || k.o.Witness == "":
		return nil
	case k.lastSaved == nil:
		// The witness file is written before the store, so it is never the older of the two.
		if e.storeHead != nil && bytes.Equal(e.storeHead.Key, k.o.Key.Public().(ed25519.PublicKey)) &&
			(e.witnessHead == nil || e.witnessHead.Seq < e.storeHead.Seq) {
			if k.o.Leads == nil {
				k.o.Log.Warn(
					"the witness file beside the audit key is missing or older than the newest head in the data: it was removed or replaced, or the "+
						"key or the data directory was moved. Whether records were cut off before this start is not known",
					"file",
					string(k.o.Witness),
					"seq",
					e.storeHead.Seq,
				)
			}
			return k.o.Witness.Save(*e.storeHead)
		}
		return nil
	case e.witnessHead != nil && sameHead(*e.witnessHead, *k.lastSaved):
		return nil
	case k.o.Leads != nil && e.witnessHead != nil && e.witnessHead.Seq >= k.lastSaved.Seq:
		return nil // another process with the same key, on this machine, signed since
	}
	k.o.Log.Error("the witness file of the audit record was removed or changed by somebody else; it is written again",
		"file", string(k.o.Witness), "seq", k.lastSaved.Seq)
	return k.o.Witness.Save(*k.lastSaved)
}

func sameHead(a, b store.AuditHead) bool {
	return a.Seq == b.Seq && bytes.Equal(a.Hash, b.Hash) && bytes.Equal(a.Signature, b.Signature)
}
