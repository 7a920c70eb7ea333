package trying

import (
	"fmt"
	"slices"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/lab/game"
	"shardboard/internal/message"
)

// LabGame plays a game with each of the published keys and with the chosen one.
func LabGame(q LabGameQuery) api.LabGame {
	out := api.LabGame{Inputs: q.LabGameInputs, URL: api.Address(q.URL("/lab/game", q.Step)), Fields: q.workload.Fields,
		Load: []api.LabGameLoad{}, Queries: []api.LabGameQuery{}}
	keys := game.Strategies()
	if !slices.Contains(keys, q.Key) {
		keys = append(keys, q.Key)
	}
	for _, text := range keys {
		if text == q.Key {
			continue // below, in its place, with its steps
		}
		key, err := game.ParseKey(text, q.workload)
		if err == nil { // every workload has the fields of the published keys
			out.Items = append(out.Items, labResult(game.Play(q.options(key)), false))
		}
	}
	chosen := q.playChosen(&out)
	out.Items = slices.Insert(out.Items, slices.Index(keys, q.Key), labResult(chosen, true))
	for _, l := range chosen.Load {
		for p := range l.Chunks {
			out.Load = append(out.Load, api.LabGameLoad{Deck: l.Deck, Player: p + 1, Cards: l.Cards[p], Chunks: l.Chunks[p]})
		}
	}
	for _, x := range chosen.Queries {
		out.Queries = append(out.Queries, api.LabGameQuery{Fields: x.Text, Asked: x.Asked, One: x.One, All: x.All, Mean: x.Mean})
	}
	return out
}

func (q LabGameQuery) options(key game.Key) game.Options {
	return game.Options{Workload: q.workload, Key: key, Players: q.Players, Dealers: q.Dealers, Joins: q.Joins, Seed: q.Seed}
}

// playChosen plays to the step that was asked for, keeps what the table looks like there, and plays on to the end.
func (q LabGameQuery) playChosen(out *api.LabGame) game.Result {
	g := game.New(q.options(q.key))
	if out.Step = q.Step; out.Step < 0 {
		out.Step = q.Cards()
	}
	for n := range out.Step {
		if t, ok := g.Next(); ok && n == out.Step-1 {
			turn := labTurn(t)
			out.Turn = &turn
		}
	}
	for _, h := range g.Hands() {
		hand := api.LabGameHand{Player: h.Player, Cards: h.Cards, Chunks: []api.LabGameChunk{}}
		for _, c := range h.Chunks {
			hand.Chunks = append(hand.Chunks, api.LabGameChunk{Range: c.Range, Cards: len(c.Cards), Stuck: c.Stuck})
		}
		out.Hands = append(out.Hands, hand)
	}
	return g.Finish()
}

func labResult(r game.Result, chosen bool) api.LabGameResult {
	cards := float64(r.Cards)
	var finished *float64
	if share, known := finishedShare(r); known {
		finished = &share
	}
	return api.LabGameResult{Key: r.Key, Chosen: chosen, Text: labVerdict(r), Players: r.Players, Cards: r.Cards, Chunks: r.Chunks,
		Splits: r.Splits, Passes: r.Passes, PassesPerCard: float64(r.Passes) / cards, HotPlayer: r.HotPlayer, HotShare: r.HotShare,
		DeckHotShare: r.HotShareOfDeck, Rounds: r.Rounds, RoundsNeeded: r.RoundsNeeded, SearchedFirst: r.Load[0].Searched,
		SearchedLast: r.Load[len(r.Load)-1].Searched, FinishedShare: finished, Unsplittable: r.Unsplittable,
		Largest: r.Largest}
}

// finishedShare is the part of the cards after the first deck that came into chunks of finished decks; known is false
// if there are none.
func finishedShare(r game.Result) (share float64, known bool) {
	if r.Cards <= game.DeckSize {
		return 0, false
	}
	return float64(r.FinishedTouched) / float64(r.Cards-game.DeckSize), true
}

// labVerdict says in a sentence what a game shows. A player is hot with twice the even share, or most of a deck.
func labVerdict(r game.Result) string {
	even := 1 / float64(r.Players)
	finished, several := finishedShare(r)
	switch {
	case r.Players == 1:
		return "One player takes every card."
	case r.Unsplittable > 0:
		return message.New("", message.Plural(r.Unsplittable, "One chunk cannot be split: all its cards have one key.",
			"Chunks that cannot be split: {n}. All cards of each have one key."), message.Count("n", int64(r.Unsplittable))).String()
	case r.HotShareOfDeck >= 0.9:
		return "One player takes nearly every card, splits, and passes chunks on all the time."
	case r.HotShare > 2*even:
		return "One player takes more than twice the even share of the cards."
	case several && finished > 0.25:
		return "Even, but cards go to chunks of finished decks all the time, and every player searches among ever more chunks."
	case several:
		return "Even over the game, and chunks of finished decks are left alone."
	}
	return "Even over the game. More decks show what happens to old chunks."
}

// LabGameTurns are the turns of a game, in pages; the cursor is the number of the next card.
func LabGameTurns(q LabGameTurnsQuery) api.LabGameTurns {
	out := api.LabGameTurns{Items: []api.LabGameTurn{}}
	g := game.New(q.options(q.key))
	for {
		t, ok := g.Next()
		switch {
		case !ok:
			return out
		case t.Number >= q.From+q.Limit:
			out.Next = answer.CursorOf(strconv.Itoa(t.Number))
			return out
		case t.Number >= q.From:
			out.Items = append(out.Items, labTurn(t))
		}
	}
}

func labTurn(t game.Turn) api.LabGameTurn {
	out := api.LabGameTurn{Number: t.Number, Text: labTurnText(t), Round: t.Round, Dealer: t.Dealer, Deck: t.Deck, Card: t.Card,
		Key: t.Key, Player: t.Player, Position: t.Position, Chunk: t.Chunk, Held: t.Held, Searched: t.Searched, Stuck: t.Stuck, Joined: t.Joined}
	if s := t.Split; s != nil {
		out.Split = &api.LabGameSplit{At: s.At, Lower: s.Lower, Upper: s.Upper}
	}
	if p := t.Pass; p != nil {
		out.Pass = &api.LabGamePass{From: p.From, To: p.To, Upper: p.Upper, Chunk: p.Chunk, Cards: p.Cards}
	}
	return out
}

// labTurnText is a turn in sentences.
func labTurnText(t game.Turn) string {
	text := fmt.Sprintf("Card %s of deck %d has the key %s. Player %d takes it into the chunk %s.", t.Card, t.Deck, t.Key, t.Player, t.Chunk)
	if t.Joined > 0 {
		text = fmt.Sprintf("Player %d has joined. ", t.Joined) + text
	}
	if t.Split != nil {
		text += fmt.Sprintf(" The chunk is full and is split at %s.", t.Split.At)
	}
	if t.Pass != nil {
		text += fmt.Sprintf(" Player %d passes %s on to player %d.", t.Pass.From, t.Pass.Chunk, t.Pass.To)
	}
	if t.Stuck {
		text += " The chunk is full, but all its cards have one key: no split divides it."
	}
	return text
}
