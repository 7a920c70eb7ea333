package site

import (
	"strings"

	"shardboard/internal/store"
)

// holdText says in one of these lists what a lost hold of the data directory means.
func holdText(texts map[string]string, h store.Hold) string {
	if text := texts[string(h)]; text != "" {
		return text
	}
	return strings.ReplaceAll(texts["other"], "{code}", string(h))
}

// dataBanners stand on every page.
var dataBanners = map[string]string{
	"ownedByAnother": "Read only: another shardboard owns the data directory. Sign in, " +
		"plan changes and change settings at that one.",
	"ownerGone": "Read only: the other shardboard that owned the data directory has stopped (noticed at {at}). Nobody can sign in or change " +
		"anything, and no alert is sent, until an admin lets this one take over or the other one is started again.",
	"vanished": "Nothing can be stored: the data directory or a file in it was moved, deleted or " +
		"replaced while shardboard was running (noticed at {at}). What was " +
		"stored shortly before may be lost. Put the same directory back (a copy is " +
		"not the same), or restart shardboard. The log has the path.",
	"unreadable": "Nothing is stored: the data directory cannot be looked at (since {at}), so shardboard cannot tell whether " +
		"it is still the same one. The log has the cause. shardboard tries again every few seconds.",
	"other": "Nothing can be stored now ({code}).",
}

// whyReadOnly stands beside what is not offered.
var whyReadOnly = map[string]string{
	"ownedByAnother": "Another shardboard owns the data directory; changes are made there.",
	"ownerGone":      "This one only reads: an admin has to let it take over first.",
	"vanished":       "Nothing can be stored: the data directory was moved or deleted.",
	"unreadable":     "Nothing can be stored: the data directory cannot be looked at.",
	"other":          "Nothing can be stored now ({code}).",
}

// nobodySignsIn stands on the way in.
var nobodySignsIn = map[string]string{
	"ownedByAnother": "Another shardboard owns the data directory, so nobody can sign in here. Sign in at the other one.",
	"ownerGone": "The shardboard that owned the data has stopped, so nobody can sign in here. Start that one again, or restart this one. An " +
		"admin who is still signed in here, or who has a token (shardboard takeover), can let this one take over.",
	"vanished": "The data directory was moved or deleted while shardboard was running, so " +
		"nobody can sign in until it is back or shardboard is restarted.",
	"unreadable": "The data directory cannot be looked at, so nobody can sign in now. The log has the cause.",
	"other":      "Nobody can sign in now ({code}).",
}
