package app

import (
	"context"
	"errors"

	answers "shardboard/internal/answer"
	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// LocateQuery is a locate query of the command line: free text, or a namespace with a shard-key value
// as Extended JSON.
type LocateQuery struct {
	Text, NS, Key string
	Extras        locating.LocateExtras // details to include besides the locations
}

// Locate connects, loads the routing table and the projects once, answers one query as the API
// would, and disconnects.
func Locate(ctx context.Context, c Config, question LocateQuery) (answer api.LocateAnswer, err error) {
	q := placement.Query{Text: question.Text, NS: topology.Namespace(question.NS), Key: question.Key}
	client, err := connect(ctx, c.cluster())
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
	prof := c.cluster().profile()
	keeper := placement.NewKeeper(client, watcher, prof, c.Log)
	if q.NS == "" {
		keeper.Poll(ctx, prof.Match(table))
		if err := keeper.Directory().Health().Err; err != nil {
			return answer, err
		}
	}
	found, err := placement.NewLocator(client, watcher, keeper, prof).Ask(ctx, q)
	if err != nil {
		return answer, err
	}
	v := answers.View{Table: watcher.Table(), Dir: keeper.Directory(), Profile: prof}
	answer = locating.Locate(ctx, v, placement.NewProver(client, watcher), found, question.Extras)
	answer.AsOf = table.Built
	if q.NS == "" || question.Extras.Why {
		answer.Ticket = locating.TicketOf(v, found.Items, answer)
	}
	return answer, nil
}
