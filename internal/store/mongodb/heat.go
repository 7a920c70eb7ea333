package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store"
)

type axisDoc struct {
	Cluster string `bson:"cluster"`
	Picture string `bson:"picture"`
	ID      int64  `bson:"id"`
	Body    []byte `bson:"body"`
}

type columnDoc struct {
	Cluster string    `bson:"cluster"`
	Picture string    `bson:"picture"`
	At      time.Time `bson:"at"`
	Step    int64     `bson:"step"` // milliseconds
	Axis    int64     `bson:"axis"`
	Body    []byte    `bson:"body"`
}

func columnKey(cluster string, c store.HeatColumn) bson.D {
	return eq("cluster", cluster, "picture", c.Picture, "at", c.At, "step", c.Step.Milliseconds())
}

// SaveHeat applies a change of the heat maps: each collection gets all of its changes in a few commands.
func (db *DB) SaveHeat(ctx context.Context, cluster string, c store.HeatChange) error {
	var axes, columns []mongo.WriteModel
	drop := func(to *[]mongo.WriteModel, filter bson.D) {
		*to = append(*to, mongo.NewDeleteManyModel().SetFilter(filter))
	}
	put := func(to *[]mongo.WriteModel, key bson.D, doc any) {
		*to = append(*to, mongo.NewReplaceOneModel().SetFilter(key).SetReplacement(doc).SetUpsert(true))
	}
	for _, p := range c.GonePictures {
		drop(&columns, eq("cluster", cluster, "picture", p))
		drop(&axes, eq("cluster", cluster, "picture", p))
	}
	for _, g := range c.GoneColumns {
		drop(&columns, columnKey(cluster, g))
	}
	for _, g := range c.GoneAxes {
		drop(&axes, eq("cluster", cluster, "picture", g.Picture, "id", g.ID))
	}
	for _, a := range c.Axes {
		if err := fits("An axis of a heat map", a.Body); err != nil {
			return err
		}
		put(&axes, eq("cluster", cluster, "picture", a.Picture, "id", a.ID), axisDoc{cluster, a.Picture, a.ID, bytesOf(a.Body)})
	}
	for _, n := range c.Columns {
		if err := fits("A column of a heat map", n.Body); err != nil {
			return err
		}
		put(&columns, columnKey(cluster, n), columnDoc{cluster, n.Picture, n.At, n.Step.Milliseconds(), n.Axis, bytesOf(n.Body)})
	}
	return db.lead(ctx, func(ctx context.Context) error {
		if err := db.write(ctx, "heat_axes", axes); err != nil {
			return err
		}
		return db.write(ctx, "heat_columns", columns)
	})
}

// write applies changes in order; the driver divides them into messages.
func (db *DB) write(ctx context.Context, collection string, changes []mongo.WriteModel) error {
	if len(changes) == 0 {
		return nil
	}
	_, err := db.collection(collection).BulkWrite(ctx, changes)
	return err
}

// LoadHeat returns everything stored about a cluster.
func (db *DB) LoadHeat(ctx context.Context, cluster string) (axes []store.HeatAxis, columns []store.HeatColumn, err error) {
	err = each(ctx, db, "heat_axes", eq("cluster", cluster), func(d axisDoc) bool {
		axes = append(axes, store.HeatAxis{Picture: d.Picture, ID: d.ID, Body: d.Body})
		return true
	}, options.Find().SetSort(eq("picture", 1, "id", 1)))
	if err != nil {
		return nil, nil, err
	}
	err = each(ctx, db, "heat_columns", eq("cluster", cluster), func(d columnDoc) bool {
		columns = append(columns, store.HeatColumn{Picture: d.Picture, At: d.At.UTC(), Step: time.Duration(d.Step) * time.Millisecond,
			Axis: d.Axis, Body: d.Body})
		return true
	}, options.Find().SetSort(eq("picture", 1, "at", 1, "step", -1)))
	return axes, columns, err
}
