// Package lab shows what is tried without touching the cluster: which shard key suits which data. It computes from the
// inputs in the address alone, so a link makes the same picture again.
package lab

import (
	"net/http"
	"slices"

	"shardboard/internal/answer/param"
	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/web/site"
)

// ofGame are what a game follows from.
var ofGame = site.Described(new(trying.LabGameQuery).Parameters(param.MostText))

// Routes of the lab.
var Routes = slices.Concat(site.Table(growthRoutes...), site.Table(chartRoutes...), gameRoutes, keysRoutes)

var gameRoutes = site.Table(
	site.Page(site.Route{Pattern: "/lab", Summary: "What can be tried without touching the cluster", Handler: IndexPage}),
	site.Question[api.LabGame]{
		Route: site.Route{Pattern: "/lab/game", Summary: "A card game about shard keys", Params: ofGame},
		Page:  GamePage, Ask: gameOf, For: "How a game ends with each published key and the chosen one",
	},
	site.Page(site.Route{Pattern: "/lab/game.svg", Summary: "The load of the players of a game, as a picture", Types: []string{mediaSVG},
		Params:  append(slices.Clip(ofGame), site.Query("show", "cards (default): taken by each player; chunks: at the end of each deck")),
		Handler: gamePicture}),
	site.Asked(site.Route{Pattern: "/lab/game/turns", Summary: "Each card of a game and what came of it",
		Params: site.Takes[trying.LabGameTurnsQuery]()},
		turns),
)

const mediaSVG = "image/svg+xml"

// gameOf is the game that a request asks for.
func gameOf(_ *site.Site, r *http.Request) (a api.LabGame, err error) {
	var q trying.LabGameQuery
	if err := q.Parameters(param.MostText).Read(r.URL.Query()); err != nil {
		return a, err
	}
	return trying.LabGame(q), nil
}

// turns are the cards of a game.
func turns(_ *site.Site, r *http.Request) (a api.LabGameTurns, err error) {
	q, err := param.Read[trying.LabGameTurnsQuery](r.URL.Query())
	if err != nil {
		return a, err
	}
	return trying.LabGameTurns(q), nil
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
