// Package lab shows what is tried without touching the cluster: which shard key suits which data. It computes from the
// inputs in the address alone, so a link makes the same picture again.
package lab

import (
	"net/http"
	"slices"

	"shardboard/internal/answer"
	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// ofGame are what a game follows from.
var ofGame = []site.Param{
	site.Query("key", "fields with commas between them, each as it is or as hash(field); default order"),
	site.Number("players", "players, which are shards, from 1 to 60; default 4"),
	site.Number("dealers", "dealers, which are application servers, from 1 to 60; default 4"),
	site.Query("workload", "cards (default; fields suit and rank), projects (fields project and doc) or csv; all have order and deck"),
	site.Number("decks", "decks of 52 cards, from 1 to 200; default 4"),
	site.Number("projects", "of workload=projects: how many, from 1 to 1000; default 20"),
	site.Query("skew", "of workload=projects: 0 (all alike) to 3; default 1"),
	site.Query("csv", "of workload=csv: a line with names of fields, and a line for each card; at most 4,096 bytes"),
	site.Query("joins", "a player joins after each of these numbers of cards, such as 52,104; at most 20"),
	site.Query("seed", "of the workload and of the order of cards in a round; default 1"),
}

var (
	paramStep = site.Number("step", "show the table after so many cards; default all")
	paramShow = site.Query("show", "cards (default): taken by each player; chunks: at the end of each deck")
)

// with are the parameters of a game and further ones.
func with(more ...site.Param) []site.Param { return append(slices.Clone(ofGame), more...) }

// Routes of the lab.
var Routes = slices.Concat(site.Table(growthRoutes...), site.Table(chartRoutes...), gameRoutes, keysRoutes)

var gameRoutes = site.Table(
	site.Page(site.Route{Pattern: "/lab", Summary: "What can be tried without touching the cluster", Handler: IndexPage}),
	site.Question[api.LabGame]{
		Route: site.Route{Pattern: "/lab/game", Summary: "A card game about shard keys", Params: with(paramStep)},
		Page:  GamePage, Ask: gameOf, For: "How a game ends with each published key and the chosen one",
	},
	site.Page(site.Route{Pattern: "/lab/game.svg", Summary: "The load of the players of a game, as a picture", Types: []string{mediaSVG},
		Params: with(paramShow), Handler: gamePicture}),
	site.Asked(site.Route{Pattern: "/lab/game/turns", Summary: "Each card of a game and what came of it", Params: site.Paged(with()...)},
		turns),
)

const mediaSVG = "image/svg+xml"

// gameOf is the game that a request asks for.
func gameOf(_ *site.Site, r *http.Request) (a api.LabGame, err error) {
	q, err := trying.ParseLabGame(r.URL.Query(), answer.MaxInput)
	if err != nil {
		return a, err
	}
	return trying.LabGame(q), nil
}

// turns are the cards of a game.
func turns(_ *site.Site, r *http.Request) (a api.LabGameTurns, err error) {
	in := r.URL.Query()
	q, err := trying.ParseLabGame(in, answer.MaxInput)
	if err != nil {
		return a, err
	}
	limit, err := answer.ParseLimit(in)
	if err != nil {
		return a, err
	}
	cursor, _, err := answer.CursorKey(in)
	if err != nil {
		return a, err
	}
	return trying.LabGameTurns(q, cursor, limit)
}

// gamePicture is a picture of a game as a file.
func gamePicture(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	a, err := gameOf(s, r)
	if err != nil {
		return err
	}
	svg, err := trying.LabGamePicture(a, r.URL.Query().Get("show"))
	if err != nil {
		return err
	}
	return writePicture(w, "game.svg", svg)
}

// IndexPage lists what there is in the lab.
func IndexPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return site.WritePage(w, r, http.StatusOK, indexPage(s.Shell(r, s.ViewFor(r), "lab", "Lab")))
}
