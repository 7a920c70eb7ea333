// Package archive copies stores: from one to another, into a file and back. Rows are copied as they
// are, so hashes of passwords and tokens stay hashes, and the audit record stays the same chain.
package archive

import (
	"context"
	"errors"
	"fmt"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

const (
	batchRows  = 20_000 // each batch is one transaction
	batchBytes = 4 << 20
)

// Count is how many rows of a table were copied.
type Count struct {
	Table string
	Rows  int
}

// Source is read once, from the first table to the last.
type Source interface {
	ReadRows(ctx context.Context, t store.Table, f func(store.Row) error) error
}

// Copy copies a store into an empty one. Nobody else may have either of them open. If it fails
// half-way, the target stays unusable, and the error says so.
func Copy(ctx context.Context, from, to store.RowStore) (counts []Count, err error) {
	if err := from.Alone(ctx); err != nil {
		return nil, err
	}
	if err := verify(ctx, from); err != nil {
		return nil, err
	}
	err = from.Snapshot(ctx, func(r store.RowReader) error {
		counts, err = load(ctx, r, to)
		return err
	})
	if err != nil {
		return nil, err
	}
	return counts, from.Alone(ctx) // somebody who came meanwhile may have written
}

// load copies from a source into an empty store and verifies the audit record there.
func load(ctx context.Context, from Source, to store.RowStore) (counts []Count, err error) {
	if err := to.BeginLoad(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fault.Wrap(fault.Of(err), err, "The copy failed: %s. %s is incomplete and cannot be used. Delete it and begin again.",
				reason(err), to.Place())
		}
	}()
	for _, t := range store.Tables() {
		n, err := loadTable(ctx, from, to, t)
		if err != nil {
			return nil, err
		}
		counts = append(counts, Count{t.Name, n})
	}
	if err := verify(ctx, to); err != nil {
		return nil, err
	}
	return counts, to.EndLoad(ctx)
}

// reason is the sentence of an error without its full stop.
func reason(err error) string {
	var f *fault.Error
	text := err.Error()
	if errors.As(err, &f) {
		text = f.Text
	}
	if n := len(text); n > 0 && text[n-1] == '.' {
		text = text[:n-1]
	}
	return text
}

func loadTable(ctx context.Context, from Source, to store.RowStore, t store.Table) (total int, err error) {
	var rows []store.Row
	size := 0
	flush := func() error {
		total += len(rows)
		err := to.LoadRows(ctx, t, rows)
		rows, size = nil, 0
		return err
	}
	err = from.ReadRows(ctx, t, func(row store.Row) error {
		if t.Name == "settings" && row[0] == store.InstallationSetting {
			return nil // the other store is another installation
		}
		rows, size = append(rows, row), size+sizeOf(row)
		if len(rows) < batchRows && size < batchBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return 0, fmt.Errorf("copy %s: %w", t.Name, err)
	}
	return total, nil
}

func sizeOf(row store.Row) (n int) {
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		default:
			n += 8
		}
	}
	return n
}

// verify checks the chain of the audit record and the newest signed head.
func verify(ctx context.Context, s store.RowStore) error {
	head, err := s.LastHead(ctx)
	if err != nil {
		return err
	}
	var x audit.Expect
	if head != nil {
		x.Heads = append(x.Heads, *head)
	}
	rep, err := audit.Verify(audit.Records(ctx, s, 0), x)
	if err != nil {
		return err
	}
	if rep.Break != nil {
		return fault.Wrap(fault.Conflict, rep.Break, "The audit record of %s is not in order: %s", s.Place(), rep.Break.Error())
	}
	return nil
}
