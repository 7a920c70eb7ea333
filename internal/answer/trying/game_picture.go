package trying

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

// labColumns is how many columns a picture has at most; a longer game has several decks in each.
const labColumns = 52

// LabGamePicture draws cards taken, or chunks owned, by deck and player, as SVG. show is "" for cards.
func LabGamePicture(g api.LabGame, show string) (string, error) {
	b := picture.Bars{Title: "Cards taken by each player, deck by deck, with the key " + g.Inputs.Key, X: "deck", Y: "cards taken"}
	switch show {
	case "", LabPictureCards:
	case LabPictureChunks:
		b.Title, b.Y = "Chunks of each player at the end of each deck, with the key "+g.Inputs.Key, "chunks"
	default:
		return "", fault.New(fault.Invalid, "show must be cards or chunks, not %q.", sanitize.Truncate(show, 40))
	}
	decks := 0
	for _, l := range g.Load {
		decks = max(decks, l.Deck)
		b.Series = seriesNames(b.Series, "player", l.Player)
	}
	each := max((decks+labColumns-1)/labColumns, 1) // decks in a column
	for first := 1; first <= decks; first += each {
		name := fmt.Sprintf("deck %d", first)
		if last := min(first+each-1, decks); last > first {
			name = fmt.Sprintf("decks %d to %d", first, last)
		}
		b.Column, b.Value = append(b.Column, name), append(b.Value, make([]int, len(b.Series)))
	}
	for _, l := range g.Load {
		at := &b.Value[(l.Deck-1)/each][l.Player-1]
		if show == LabPictureChunks {
			*at = l.Chunks // of the last deck in the column
		} else {
			*at += l.Cards
		}
	}
	b.Each = each
	return b.SVG(), nil
}
