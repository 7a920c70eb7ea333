package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/mongodb"
	"shardboard/internal/store/sqlite"
)

// AuditSource is where an audit record is read from; the first source that is set counts.
type AuditSource struct {
	File    io.Reader    // an exported record
	DataDir string       // read directly; a server may be running
	Store   StoreAddress // likewise
	Server  Remote       // a running server

	Witness AuditWitness // also compared by VerifyAudit; read before the record
}

// auditReader returns heads and then records in order; heads must be called first.
type auditReader interface {
	heads(ctx context.Context, all bool) ([]store.AuditHead, error)
	records(ctx context.Context) iter.Seq2[store.AuditRecord, error]
	close() error
}

func (f AuditSource) open(ctx context.Context) (auditReader, error) {
	switch {
	case f.File != nil:
		return &auditFile{lines: bufio.NewReaderSize(f.File, 1<<16)}, nil
	case f.DataDir != "":
		db, err := sqlite.OpenReader(ctx, f.DataDir)
		if err != nil {
			return nil, err
		}
		return auditData{db}, nil
	case !f.Store.IsZero():
		db, err := mongodb.Open(ctx, f.Store, mongodb.Options{Follow: true, MustExist: true})
		if err != nil {
			return nil, err
		}
		return auditData{db}, nil
	}
	return auditServer{f.Server}, nil
}

// auditData reads a data directory or a store on MongoDB.
type auditData struct{ db store.Store }

func (d auditData) close() error { return d.db.Close() }

func (d auditData) heads(ctx context.Context, all bool) ([]store.AuditHead, error) {
	if !all {
		h, err := d.db.LastHead(ctx)
		if err != nil || h == nil {
			return nil, err
		}
		return []store.AuditHead{*h}, nil
	}
	var out []store.AuditHead
	for {
		part, err := d.db.AuditHeads(ctx, len(out), api.MaxLimit)
		out = append(out, part...)
		if err != nil || len(part) < api.MaxLimit {
			return out, err
		}
	}
}

func (d auditData) records(ctx context.Context) iter.Seq2[store.AuditRecord, error] {
	return audit.Records(ctx, d.db, 0)
}

// auditFile reads an exported record: heads, then records, one JSON object a line.
type auditFile struct {
	lines *bufio.Reader
	n     int
	ahead *api.AuditRecord // first record, read while looking for the end of the heads
}

func (f *auditFile) close() error { return nil }

func (f *auditFile) heads(context.Context, bool) ([]store.AuditHead, error) {
	var out []store.AuditHead
	for {
		line, err := f.next()
		if err != nil || line == nil {
			return out, err
		}
		if line.Head == nil {
			f.ahead = line.Record
			return out, nil
		}
		h, err := headOf(*line.Head)
		if err != nil {
			return out, f.bad(err)
		}
		out = append(out, h)
	}
}

func (f *auditFile) records(context.Context) iter.Seq2[store.AuditRecord, error] {
	return func(yield func(store.AuditRecord, error) bool) {
		rec := f.ahead
		for {
			if rec == nil {
				line, err := f.next()
				switch {
				case err != nil:
					yield(store.AuditRecord{}, err)
					return
				case line == nil:
					return
				case line.Record == nil:
					yield(store.AuditRecord{}, f.bad(errors.New("a head after records")))
					return
				}
				rec = line.Record
			}
			r, err := recordOf(*rec)
			if err != nil {
				err = f.bad(err)
			}
			if !yield(r, err) || err != nil {
				return
			}
			rec = nil
		}
	}
}

// next returns the next line; nil at the end.
func (f *auditFile) next() (*api.AuditLine, error) {
	for {
		text, err := f.lines.ReadBytes('\n')
		if text = bytes.TrimSpace(text); len(text) == 0 {
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			if err != nil {
				return nil, fault.Wrap(fault.Unavailable, err, "The exported record cannot be read.")
			}
			f.n++
			continue
		}
		f.n++
		var line api.AuditLine
		if err := json.Unmarshal(text, &line); err != nil || (line.Record == nil) == (line.Head == nil) {
			return nil, f.bad(err)
		}
		return &line, nil
	}
}

func (f *auditFile) bad(err error) error {
	return &fault.Error{
		Kind: fault.Invalid,
		Err:  err,
		Text: fault.New(fault.Invalid, "Line %d is not a line of an exported audit record.", f.n).Text,
	}
}

// ExportAudit writes a record as JSON lines, heads first, so that a later verification needs only
// one record in memory.
func ExportAudit(ctx context.Context, from AuditSource, w io.Writer) (err error) {
	r, err := from.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	heads, err := r.heads(ctx, true)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	for _, h := range heads {
		wire := auditing.AuditHead(h)
		if err := enc.Encode(api.AuditLine{Head: &wire}); err != nil {
			return err
		}
	}
	for rec, err := range r.records(ctx) {
		if err != nil {
			return err
		}
		wire := auditing.AuditRecord(rec)
		if err := enc.Encode(api.AuditLine{Record: &wire}); err != nil {
			return err
		}
	}
	return out.Flush()
}
