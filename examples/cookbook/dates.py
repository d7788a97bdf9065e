# Dates, time zones and working days.
from calendar import monthrange
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

meeting = datetime(2024, 3, 29, 16, 30, tzinfo=ZoneInfo("Europe/Berlin"))
for zone in ("Europe/Berlin", "America/New_York", "Asia/Tokyo"):
    print(meeting.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M %z"))
later_meeting = meeting.astimezone(timezone.utc) + timedelta(days=3)
print(later_meeting.astimezone(ZoneInfo("Europe/Berlin")).strftime("%Y-%m-%d %H:%M %z"))
span = [date(2024, 3, 1) + timedelta(days=n) for n in range(31)]
print(sum(d.weekday() < 5 for d in span))
print(date(2024, 2, min(31, monthrange(2024, 2)[1])))
