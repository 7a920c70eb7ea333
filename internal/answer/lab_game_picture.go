package answer

import (
	"fmt"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/lab/picture"
	"shardboard/internal/sanitize"
)

// The pictures of a game.
const (
	LabPictureCards  = "cards"
	LabPictureChunks = "chunks"
)

// LabGamePicture draws cards taken, or chunks owned, by deck and player, as SVG. show is "" for cards.
func LabGamePicture(g api.LabGame, show string) (string, error) {
	b := picture.Bars{Title: "Cards taken by each player, deck by deck, with the key " + g.Inputs.Key, X: "deck", Y: "cards taken"}
	value := func(l api.LabGameLoad) int { return l.Cards }
	switch show {
	case "", LabPictureCards:
	case LabPictureChunks:
		b.Title, b.Y = "Chunks of each player at the end of each deck, with the key "+g.Inputs.Key, "chunks"
		value = func(l api.LabGameLoad) int { return l.Chunks }
	default:
		return "", fault.New(fault.Invalid, "show must be cards or chunks, not %q.", sanitize.Truncate(show, 40))
	}
	for _, l := range g.Load {
		if l.Player > len(b.Series) {
			b.Series = append(b.Series, fmt.Sprintf("player %d", l.Player))
		}
		if l.Deck > len(b.Value) {
			b.Column, b.Value = append(b.Column, fmt.Sprintf("deck %d", l.Deck)), append(b.Value, nil)
		}
		b.Value[l.Deck-1] = append(b.Value[l.Deck-1], value(l))
	}
	return b.SVG(), nil
}
