package audit

import (
	"bytes"
	"context"
	"iter"
	"time"

	"shardboard/internal/store"
)

// roundStep is how many old records one check rereads, within some tenths of a second. With a check every minute,
// up to 10,000 records are reread completely every minute; a longer record takes a minute for each 10,000, and a day
// at most.
const (
	roundStep = 10_000
	roundTime = 24 * time.Hour
)

// evidence is what the record must agree with. It is read before the records, so that a record
// appended meanwhile is only newer than the evidence and never looks cut off.
type evidence struct {
	written     *Point           // last record that this process remembers; nil in a process that only reads
	storeHead   *store.AuditHead // the newest head in the store
	witnessHead *store.AuditHead // the head in the witness file
	witnessErr  error            // why the witness file could not be read
}

func (k *Keeper) evidence(ctx context.Context) (e evidence, err error) {
	if e.written, err = k.written(ctx); err != nil {
		return e, err
	}
	e.witnessHead, e.witnessErr = k.o.Witness.Head()
	e.storeHead, err = k.store.LastHead(ctx)
	return e, err
}

func (k *Keeper) written(ctx context.Context) (*Point, error) {
	w, err := k.store.AuditWritten(ctx)
	if err != nil || !w.Known {
		return nil, err
	}
	return &Point{w.Seq, w.Hash}, nil
}

// foreign is the break when a record follows the last one of this process, and no other process may
// write.
func (k *Keeper) foreign(ctx context.Context, end int64) (*Break, error) {
	now, err := k.store.AuditWritten(ctx)
	if err != nil || !now.Known || !now.Last || end <= now.Seq {
		return nil, err
	}
	return &Break{Code: Foreign, Seq: now.Seq + 1}, nil
}

// verify checks the record against the evidence and reads what is due. A finding is st.Break; the
// error is a failure to verify.
func (k *Keeper) verify(ctx context.Context, st *State) (Stage, error) {
	began := k.o.Now()
	e, err := k.evidence(ctx)
	if err != nil {
		return StageRead, err
	}
	if st.Break = k.headLost(e); st.Break != nil {
		return "", nil
	}
	k.recordHead(e, st)
	whole := st.Whole.IsZero() || k.full
	if err := k.verifyEnd(ctx, st, e, whole); err != nil || st.Break != nil {
		return StageRead, err
	}
	st.At = k.o.Now()
	if whole {
		st.Whole, k.round, k.full = began, Point{}, false
	} else if err := k.verifyOld(ctx, st); err != nil || st.Break != nil {
		return StageRead, err
	}
	if e.witnessErr != nil {
		return StageWitness, e.witnessErr
	}
	return StageWitness, k.renewWitness(e)
}

// verifyEnd checks that the verified end is still there and reads what follows; with whole it reads
// from the first record.
func (k *Keeper) verifyEnd(ctx context.Context, st *State, e evidence, whole bool) error {
	x := Expect{After: st.End, Reread: true, Witness: e.witnessHead}
	if e.written != nil {
		x.Known = append(x.Known, *e.written)
	}
	if e.storeHead != nil {
		x.Heads = append(x.Heads, *e.storeHead)
	}
	from := st.End.Seq - 1
	if whole || st.End.Seq == 0 {
		if st.End.Seq > 0 {
			x.Known = append(x.Known, st.End)
		}
		x.After, x.Reread, from = Point{}, false, 0
	}
	if x.After.Seq > 0 {
		b, err := k.headsBefore(ctx, x)
		if st.Break = b; err != nil || b != nil {
			return err
		}
	}
	records := Records(ctx, k.store, from)
	if from == 0 && x.Reread { // the first record is the end; Records would also read numbers below it
		records = recordsAfter(ctx, k.store, 0)
	}
	rep, err := Verify(records, x)
	if err != nil {
		return err
	}
	if st.Break = rep.Break; st.Break != nil {
		if st.Break.Code == Cut {
			if seq, _, err := k.store.AuditEnd(ctx); err == nil {
				st.Break.Found = seq
			}
		}
		st.End = rep.End
		return nil
	}
	st.End = rep.End
	st.Break, err = k.foreign(ctx, rep.End.Seq)
	return err
}

// headsBefore checks heads whose records come before the part that is read: each record must still
// have the hash that was signed.
func (k *Keeper) headsBefore(ctx context.Context, x Expect) (*Break, error) {
	marks, bad := x.marks(0)
	if bad != nil {
		return bad, nil
	}
	for _, m := range marks {
		if m.head == nil || m.Seq >= x.After.Seq {
			continue
		}
		rows, err := k.store.AuditRecords(ctx, m.Seq-1, 1)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 || rows[0].Seq != m.Seq || !bytes.Equal(rows[0].Hash, m.Hash) {
			return m.rebuilt(), nil
		}
	}
	return nil, nil
}

// verifyOld rereads the next part of the old records, so that a change or deletion long after
// writing is found soon.
func (k *Keeper) verifyOld(ctx context.Context, st *State) error {
	if k.round.Seq == 0 {
		k.roundStart = k.o.Now()
	}
	step := max(roundStep, st.End.Seq/int64(roundTime/checkInterval)+1)
	rep, err := Verify(upTo(Records(ctx, k.store, k.round.Seq), min(k.round.Seq+step, st.End.Seq)), Expect{After: k.round})
	switch {
	case err != nil:
		return err
	case rep.Break != nil:
		st.Break = rep.Break
	case rep.End.Seq < min(k.round.Seq+step, st.End.Seq):
		st.Break = &Break{Code: Cut, Seq: st.End.Seq, Found: rep.End.Seq}
	case rep.End.Seq < st.End.Seq:
		k.round = rep.End
	case !rep.End.Equal(st.End) && st.End.Seq > 0:
		st.Break = &Break{Code: Rebuilt, Seq: st.End.Seq}
	default:
		k.round, st.Whole = Point{}, k.roundStart
	}
	return nil
}

// upTo ends after the record with the number last, or the first one beyond it.
func upTo(records iter.Seq2[store.AuditRecord, error], last int64) iter.Seq2[store.AuditRecord, error] {
	return func(yield func(store.AuditRecord, error) bool) {
		for r, err := range records {
			if !yield(r, err) || r.Seq >= last {
				return
			}
		}
	}
}
