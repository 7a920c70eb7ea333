// Package archive copies stores: from one to another, into a file and back. Rows are copied as they
// are, so hashes of passwords and tokens stay hashes, and the audit record stays the same chain.
package archive

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

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
		counts, err = load(ctx, r, to, func() error { return nil })
		return err
	})
	if err != nil {
		return nil, err
	}
	return counts, from.Alone(ctx) // somebody who came meanwhile may have written
}

// load copies from a source into an empty store and verifies the audit record there. end checks what was read.
func load(ctx context.Context, from Source, to store.RowStore, end func() error) (counts []Count, err error) {
	if err := to.BeginLoad(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fault.Wrap(fault.Of(err), err, "The copy failed: %s. %s is incomplete and cannot be used. Delete it and begin again.",
				reason(err), to.Place())
		}
	}()
	var record errgroup.Group
	for _, t := range store.Tables() {
		n, err := loadTable(ctx, from, to, t)
		if err != nil {
			return nil, errors.Join(err, record.Wait())
		}
		counts = append(counts, Count{t.Name, n})
		if t.Name == "audit_heads" { // the record is complete: it is verified while the other tables are loaded
			record.Go(func() error { return verify(ctx, to) })
		}
	}
	if err := errors.Join(record.Wait(), end()); err != nil {
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

// loadTable reads the next batch of rows while one is loaded.
func loadTable(ctx context.Context, from Source, to store.RowStore, t store.Table) (total int, err error) {
	batches := make(chan []store.Row)
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		defer close(batches)
		return readBatches(ctx, from, t, batches)
	})
	both.Go(func() error {
		for rows := range batches {
			if err := to.LoadRows(ctx, t, rows); err != nil {
				return err
			}
			total += len(rows)
		}
		return nil
	})
	if err := both.Wait(); err != nil {
		return 0, fmt.Errorf("copy %s: %w", t.Name, err)
	}
	return total, nil
}

func readBatches(ctx context.Context, from Source, t store.Table, batches chan<- []store.Row) error {
	var rows []store.Row
	size := 0
	flush := func() error {
		select {
		case batches <- rows:
		case <-ctx.Done():
			return ctx.Err()
		}
		rows, size = nil, 0
		return nil
	}
	err := from.ReadRows(ctx, t, func(row store.Row) error {
		if t.Name == "settings" && row[0] == store.InstallationSetting {
			return nil // the other store is another installation
		}
		rows, size = append(rows, row), size+sizeOf(row)
		if len(rows) < batchRows && size < batchBytes {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
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
