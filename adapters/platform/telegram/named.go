package telegram

// Username implements [platform.Mentioned].
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
