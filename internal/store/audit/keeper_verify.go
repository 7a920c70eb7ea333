package audit

import (
	"bytes"
	"context"
	"iter"
	"time"

	"shardboard/internal/store"
)

// roundStep is how many old records one check reads again. At a check a minute, a
// record of up to 10,000 is read whole every minute; a longer one takes a minute
// for each 10,000 (BenchmarkCheckOfOldRecords), and never more than a day.
const (
	roundStep = 10_000
	roundTime = 24 * time.Hour
)

// evidence is what the record must agree with. It is read before the records: a
// record that is appended meanwhile is then only newer than the evidence, and
// never looks as if it had been cut off.
type evidence struct {
	written *Point           // as the process that writes remembers; nil in one that only reads
	kept    *store.AuditHead // the newest head in the store
	seen    *store.AuditHead // the head in the witness file
	lost    error            // why the witness file could not be read
}

func (k *Keeper) evidence(ctx context.Context) (e evidence, err error) {
	if e.written, err = k.written(ctx); err != nil {
		return e, err
	}
	e.seen, e.lost = k.o.Witness.Head()
	e.kept, err = k.store.LastHead(ctx)
	return e, err
}

func (k *Keeper) written(ctx context.Context) (*Point, error) {
	seq, hash, known, err := k.store.AuditWritten(ctx)
	if err != nil || !known {
		return nil, err
	}
	return &Point{seq, hash}, nil
}

// verify checks the record against the evidence and reads what is due. Anything
// wrong is st.Break; the error is a failure to find out.
func (k *Keeper) verify(ctx context.Context, st *State) (Stage, error) {
	began := k.o.Now()
	e, err := k.evidence(ctx)
	if err != nil {
		return StageRead, err
	}
	if st.Break = k.headLost(e); st.Break != nil {
		return "", nil
	}
	k.head(e, st)
	whole := st.Whole.IsZero() || k.afresh
	if err := k.verifyEnd(ctx, st, e, whole); err != nil || st.Break != nil {
		return StageRead, err
	}
	st.At = k.o.Now()
	if whole {
		st.Whole, k.round, k.afresh = began, Point{}, false
	} else if err := k.verifyOld(ctx, st); err != nil || st.Break != nil {
		return StageRead, err
	}
	if e.lost != nil {
		return StageWitness, e.lost
	}
	return StageWitness, k.renewWitness(e)
}

// verifyEnd checks that the verified end is still there and reads what follows,
// or reads everything from the first record.
func (k *Keeper) verifyEnd(ctx context.Context, st *State, e evidence, whole bool) error {
	x := Expect{After: st.End, Again: true, Witness: e.seen}
	if e.written != nil {
		x.Notes = append(x.Notes, *e.written)
	}
	if e.kept != nil {
		x.Heads = append(x.Heads, *e.kept)
	}
	from := st.End.Seq - 1
	if whole || st.End.Seq == 0 {
		if st.End.Seq > 0 {
			x.Notes = append(x.Notes, st.End)
		}
		x.After, x.Again, from = Point{}, false, 0
	}
	if x.After.Seq > 0 {
		b, err := k.headsBefore(ctx, x)
		if st.Break = b; err != nil || b != nil {
			return err
		}
	}
	records := Records(ctx, k.store, from)
	if from == 0 && x.Again { // the first record is the end: Records would also ask for places below it
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
	now, err := k.written(ctx)
	if err != nil {
		return err
	}
	if st.End = rep.End; now != nil && rep.End.Seq > now.Seq {
		st.Break = &Break{Code: Foreign, Seq: now.Seq + 1}
	}
	return nil
}

// headsBefore compares heads whose record comes before the part that is read: the
// record must still be there with the hash that was signed.
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

// verifyOld reads the next part of the old records again, so that one that was
// changed or deleted long after it was written is found soon.
func (k *Keeper) verifyOld(ctx context.Context, st *State) error {
	if k.round.Seq == 0 {
		k.begun = k.o.Now()
	}
	step := max(roundStep, st.End.Seq/int64(roundTime/every)+1)
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
		k.round, st.Whole = Point{}, k.begun
	}
	return nil
}

// upTo ends with the record that has the number last, or the first one beyond.
func upTo(records iter.Seq2[store.AuditRecord, error], last int64) iter.Seq2[store.AuditRecord, error] {
	return func(yield func(store.AuditRecord, error) bool) {
		for r, err := range records {
			if !yield(r, err) || r.Seq >= last {
				return
			}
		}
	}
}
