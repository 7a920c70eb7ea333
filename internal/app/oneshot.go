package app

import (
	"context"
	"errors"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web"
)

// Question is one locate query of the command line: free text, or a namespace
// with a shard-key value as Extended JSON.
type Question struct{ Text, NS, Key string }

// Locate connects, loads the table and the projects once, answers one question
// as the API would, and disconnects.
func Locate(ctx context.Context, c Config, question Question) (answer api.List[api.LocateItem], err error) {
	q := placement.Query{Text: question.Text, NS: topology.Namespace(question.NS), Key: question.Key}
	client, err := connect(ctx, c)
	if err != nil {
		return answer, err
	}
	defer func() { err = errors.Join(err, client.Close(context.WithoutCancel(ctx))) }()
	c.Watcher.Log = c.Log
	watcher := topology.NewWatcher(client, c.Watcher)
	table, err := watcher.Load(ctx)
	if err != nil {
		return answer, err
	}
	prof := profile.Yorkie()
	keeper := placement.NewKeeper(client, watcher, prof, c.Log)
	if q.NS == "" {
		keeper.Poll(ctx, prof.Match(table))
		if err := keeper.Directory().Health().Err; err != nil {
			return answer, err
		}
	}
	items, err := placement.NewLocator(client, watcher, keeper, prof).Locate(ctx, q)
	if err != nil {
		return answer, err
	}
	return api.List[api.LocateItem]{Items: web.LocateItems(items), AsOf: table.Built}, nil
}
