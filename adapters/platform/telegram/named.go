package telegram

// Username returns the bot's name without the @, once the server has reported it.
func (p *Platform) Username() string {
	if me := p.me.Load(); me != nil {
		return me.Username
	}
	return ""
}

// Bot implements [platform.Named].
func (p *Platform) Bot() (name, link string) {
	user := p.Username()
	if user == "" {
		return "", ""
	}
	return "@" + user, "https://t.me/" + user
}
