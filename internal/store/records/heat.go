package records

import (
	"context"

	"shardboard/internal/store"
)

var (
	axes = tableOf("heat_axes", func(cluster *string, a *store.HeatAxis) []any {
		return []any{cluster, &a.Picture, &a.ID, &a.Body}
	})
	columns = tableOf("heat_columns", func(cluster *string, c *store.HeatColumn) []any {
		return []any{cluster, &c.Picture, &c.At, &c.Step, &c.Axis, &c.Body}
	})
)

// SaveHeat applies a change of the heat maps.
func (r Records) SaveHeat(ctx context.Context, cluster string, c store.HeatChange) error {
	var goneAxes, goneColumns []Where
	for _, p := range c.GonePictures {
		goneAxes = append(goneAxes, axes.is("cluster", cluster, "picture", p))
		goneColumns = append(goneColumns, columns.is("cluster", cluster, "picture", p))
	}
	for _, a := range c.GoneAxes {
		goneAxes = append(goneAxes, axes.is("cluster", cluster, "picture", a.Picture, "id", a.ID))
	}
	for _, g := range c.GoneColumns {
		goneColumns = append(goneColumns, columns.is("cluster", cluster, "picture", g.Picture, "at", g.At, "step", g.Step.Milliseconds()))
	}
	return r.db.Lead(ctx, 0, func(ctx context.Context, tx Tx) error {
		if _, err := tx.Delete(ctx, axes.Table, goneAxes...); err != nil {
			return err
		}
		if _, err := tx.Delete(ctx, columns.Table, goneColumns...); err != nil {
			return err
		}
		if err := tx.Put(ctx, axes.Table, axes.rows(cluster, c.Axes)...); err != nil {
			return err
		}
		return tx.Put(ctx, columns.Table, columns.rows(cluster, c.Columns)...)
	})
}

// LoadHeat returns everything stored about a cluster.
func (r Records) LoadHeat(ctx context.Context, cluster string) ([]store.HeatAxis, []store.HeatColumn, error) {
	rows, err := list(ctx, r.db, axes, axes.is("cluster", cluster), 0, "picture", "id")
	if err != nil {
		return nil, nil, err
	}
	spans, err := list(ctx, r.db, columns, columns.is("cluster", cluster), 0, "picture", "at", "-step")
	return rows, spans, err
}
