package words

// pins are what the plans that made pins said of them.
var pins = map[string]string{}
