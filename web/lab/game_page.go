package lab

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"shardboard/internal/answer/param"
	"shardboard/internal/answer/trying"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/lab/game"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// gameView is a game with what only its page needs.
type gameView struct {
	api.LabGame
	query   trying.LabGameQuery
	picture string // the cards of the players as SVG, of ours alone
}

// GamePage is the card game: its table after a step, how it ends, and the form of its inputs.
func GamePage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	sh := s.Shell(r, s.ViewFor(r), "lab-game", "Shard-key game")
	in := r.URL.Query()
	var q trying.LabGameQuery
	err := q.Parameters(param.MostText).Read(in)
	if err != nil {
		if fault.Of(err) != fault.Invalid {
			return err
		}
		sh.CSV = ""
		return site.WritePage(w, r, http.StatusBadRequest, gamePage(sh, formOf(in, ofGame, s.ProblemText(w, err)), nil))
	}
	v := gameView{LabGame: trying.LabGame(q), query: q}
	if v.picture, err = trying.LabGamePicture(v.LabGame, ""); err != nil {
		return err
	}
	return site.WritePage(w, r, http.StatusOK, gamePage(sh, formOf(withUsual(in, q), ofGame, ""), &v))
}

// withUsual fills in what a game has of which nothing was said.
func withUsual(in url.Values, q trying.LabGameQuery) url.Values {
	return url.Values{"key": {q.Key}, "players": {strconv.Itoa(q.Players)}, "dealers": {strconv.Itoa(q.Dealers)}, "workload": {q.Workload},
		"decks": {strconv.Itoa(q.Decks)}, "projects": {strconv.Itoa(q.Projects)}, "skew": {q.SkewText()}, "csv": {in.Get("csv")},
		"joins": {q.JoinsText()}, "seed": {strconv.FormatUint(q.Seed, 10)}}
}

// published are the keys of the original game, with their names there.
func published() []templates.Option {
	return []templates.Option{
		{Value: game.Ascending, Text: "Let George do it"},
		{Value: game.Scatter, Text: "More scatter, less gather"},
		{Value: game.Combo, Text: "Combo plate"},
	}
}

// named is a key with its published name.
func named(key string) string {
	for _, p := range published() {
		if p.Value == key {
			return p.Text
		}
	}
	return "your key"
}

// with is the address of the same game with another key, at its end.
func (v gameView) with(key string) string {
	q := v.query
	q.Key = key
	return q.URL("/lab/game", -1)
}

// at is the address of a step.
func (v gameView) at(step int) string {
	return v.query.URL("/lab/game", min(max(step, 0), v.query.Cards()))
}

// file is the address of another form of the game.
func (v gameView) file(path string) string { return v.query.URL(path, -1) }

// mostChunks is how many chunks of a player are drawn; a long game has hundreds.
const mostChunks = 60

// drawn are the chunks of a hand that are drawn: the last in the order of the ranges.
func drawn(h api.LabGameHand) []api.LabGameChunk { return h.Chunks[max(len(h.Chunks)-mostChunks, 0):] }

// swatch is the class with the colour of a player, as of a shard in that place.
func swatch(player int) string { return fmt.Sprintf("s%d", (player-1)%12+1) }

func chunkClass(c api.LabGameChunk) string {
	class := fmt.Sprintf("c%d", min(c.Cards, game.Full))
	if c.Stuck {
		class += " stuck"
	}
	return class
}

// decimal is a number with one digit after the point.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

// answeredBy says who answers a query.
func answeredBy(q api.LabGameQuery) string {
	switch {
	case q.One == q.Asked:
		return "one player"
	case q.All == q.Asked:
		return "every player"
	}
	return decimal(q.Mean) + " players on average"
}

// playerLoad is what one player had to do in a whole game.
type playerLoad struct{ player, cards, most, chunks int }

func (v gameView) byPlayer() []playerLoad {
	var out []playerLoad
	for _, l := range v.Load {
		for len(out) < l.Player {
			out = append(out, playerLoad{player: len(out) + 1})
		}
		p := &out[l.Player-1]
		p.cards, p.most, p.chunks = p.cards+l.Cards, max(p.most, l.Cards), l.Chunks
	}
	return out
}
