package data

import (
	"context"
	"errors"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Owners is which shards had data of a collection, from the server's record. src is nil where it cannot be asked. What
// keeps it from being known is in the answer.
func Owners(ctx context.Context, v answer.View, src placement.OwnersSource, ns topology.Namespace) (api.Owners, error) {
	out := api.Owners{NS: string(ns), Items: []api.Owning{}}
	if !v.Table.Loaded {
		return out, v.Table.NotLoaded()
	}
	c := v.Table.Collection(ns)
	if c == nil {
		if err := findCollection(v.Table, ns); err != nil {
			return out, err
		}
	}
	switch release := balance.ReleaseOf(v.Table.ServerInfo.Version); {
	case release.Known() && !release.AtLeast(7, 0, 0):
		out.Reason = "It is not known before MongoDB 7.0: " + v.Table.ServerInfo.Release() + " keeps no record of it."
		return out, nil
	case src == nil:
		out.Reason = "The server's record cannot be read here."
		return out, nil
	}
	rows, more, err := src.Owners(ctx, ns)
	var skipped *topology.SkippedError
	switch {
	case errors.As(err, &skipped):
		out.Unreadable = skipped.Count
	case err != nil:
		out.Reason = fault.Text(err)
		return out, nil
	}
	out.Known, out.More = true, more
	for _, row := range rows {
		item := api.Owning{Since: time.Unix(int64(row.Since.T), 0).UTC(), Shards: append([]string{}, row.Shards...)}
		item.Earlier = c != nil && row.UUID != ([16]byte{}) && row.UUID != c.Incarnation.UUID
		out.Items = append(out.Items, item)
	}
	return out, nil
}
