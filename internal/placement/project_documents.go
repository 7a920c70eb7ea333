package placement

import (
	"context"

	"shardboard/internal/topology"
)

// DocumentPage is a part of a project's documents in the order of their keys.
type DocumentPage struct {
	Prefix string // only keys that begin so
	From   string // only keys from this one on
	Skip   int    // rows to leave out of the first ones: several removed documents can have one key
	Limit  int
}

// PlacedDocument is a document of a project and where its own row is.
type PlacedDocument struct {
	DocumentRow
	Place Place
}

// Documents reads documents of a project, removed ones too, by one query with a limit.
func (l *Locator) Documents(ctx context.Context, p Project, page DocumentPage) ([]PlacedDocument, error) {
	t := l.tables.Table()
	if t == nil || !t.Loaded {
		return nil, t.NotLoaded()
	}
	rows, err := l.src.DocumentsOf(ctx, p.DB, l.profile.Keys, p.IDValue(), page)
	if err != nil {
		return nil, err
	}
	ns := topology.Namespace(p.DB + "." + l.profile.Keys.Collection)
	of, _ := l.profile.Collection(l.profile.Keys.Collection)
	out := make([]PlacedDocument, len(rows))
	for i, row := range rows {
		known := fields{"_id": row.Stored.Value(row.ID), l.profile.Keys.Project: p.IDValue()}
		known.name(t, ns, of, row.StoredKey)
		out[i] = PlacedDocument{row, placeOf(t, ns, "", known)}
	}
	return out, nil
}
