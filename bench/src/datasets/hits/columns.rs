//! The columns of the table, with the names that they have in ClickBench, and what is in them.

/// A column.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Whether a visit has one value for all its rows.
    pub(super) of_visit: bool,
}

/// The contents of a column. Shares of rows are in thousandths.
pub(super) enum Kind {
    /// 1 in this part of the rows, else 0: INT16.
    Flag(u64),
    /// One of so many numbers, small ones more often: INT16.
    Small(usize),
    /// The same as INT32.
    Int(usize),
    /// Any number: INT32.
    AnyInt,
    /// A time in milliseconds in this part of the rows, else 0: INT32.
    Millis(u64),
    /// Any number in this part of the rows, else 0: INT64.
    AnyLong(u64),
    /// The number of the site: INT32.
    Site,
    /// The date.
    Day,
    /// The time, or up to so many seconds later.
    Time(u64),
    /// The title of the page.
    Title,
    /// The address of the page.
    Address,
    /// The address of another page, in this part of the rows.
    Referrer(u64),
    /// What was searched for, in this part of the rows.
    Phrase(u64),
    /// One of so many words, in this part of the rows.
    Word(u64, usize),
    /// One of few letters.
    Letters,
}

use Kind::{
    Address, AnyInt, AnyLong, Day, Flag, Int, Letters, Millis, Phrase, Referrer, Site, Small, Time, Title,
    Word,
};

const fn hit(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, of_visit: false }
}

const fn visit(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, of_visit: true }
}

#[rustfmt::skip] // one column a line
pub(super) const COLUMNS: &[Column] = &[
    hit("WatchID", AnyLong(1_000)),
    visit("JavaEnable", Flag(700)),
    hit("Title", Title),
    hit("GoodEvent", Flag(1_000)),
    hit("EventTime", Time(0)),
    hit("EventDate", Day),
    hit("CounterID", Site),
    visit("ClientIP", AnyInt),
    visit("RegionID", Int(5_000)),
    visit("UserID", AnyLong(1_000)),
    visit("CounterClass", Flag(300)),
    visit("OS", Small(80)),
    visit("UserAgent", Small(80)),
    hit("URL", Address),
    hit("Referer", Referrer(810)),
    hit("IsRefresh", Flag(130)),
    hit("RefererCategoryID", Small(400)),
    hit("RefererRegionID", Int(2_000)),
    hit("URLCategoryID", Small(500)),
    hit("URLRegionID", Int(2_500)),
    visit("ResolutionWidth", Small(2_000)),
    visit("ResolutionHeight", Small(1_500)),
    visit("ResolutionDepth", Small(6)),
    visit("FlashMajor", Small(14)),
    visit("FlashMinor", Small(10)),
    visit("FlashMinor2", Word(450, 60)),
    visit("NetMajor", Small(5)),
    visit("NetMinor", Small(6)),
    visit("UserAgentMajor", Small(60)),
    visit("UserAgentMinor", Word(1_000, 300)),
    visit("CookieEnable", Flag(990)),
    visit("JavascriptEnable", Flag(990)),
    visit("IsMobile", Flag(60)),
    visit("MobilePhone", Small(4)),
    visit("MobilePhoneModel", Word(50, 150)),
    hit("Params", Word(20, 2_000)),
    visit("IPNetworkID", Int(300_000)),
    hit("TraficSourceID", Small(10)),
    hit("SearchEngineID", Small(60)),
    hit("SearchPhrase", Phrase(130)),
    hit("AdvEngineID", Flag(6)),
    hit("IsArtifical", Flag(60)),
    visit("WindowClientWidth", Small(2_500)),
    visit("WindowClientHeight", Small(2_000)),
    visit("ClientTimeZone", Small(40)),
    hit("ClientEventTime", Time(3_600)),
    visit("SilverlightVersion1", Small(5)),
    visit("SilverlightVersion2", Flag(300)),
    visit("SilverlightVersion3", Int(60_000)),
    visit("SilverlightVersion4", Flag(2)),
    visit("PageCharset", Word(980, 12)),
    hit("CodeVersion", Int(300)),
    hit("IsLink", Flag(40)),
    hit("IsDownload", Flag(5)),
    hit("IsNotBounce", Flag(300)),
    visit("FUniqID", AnyLong(400)),
    hit("OriginalURL", Referrer(300)),
    hit("HID", AnyInt),
    hit("IsOldCounter", Flag(1)),
    hit("IsEvent", Flag(20)),
    hit("IsParameter", Flag(30)),
    hit("DontCountHits", Flag(150)),
    hit("WithHash", Flag(10)),
    visit("HitColor", Letters),
    hit("LocalEventTime", Time(7_200)),
    visit("Age", Small(60)),
    visit("Sex", Small(3)),
    visit("Income", Small(5)),
    visit("Interests", Small(16_000)),
    visit("Robotness", Small(8)),
    visit("RemoteIP", AnyInt),
    hit("WindowName", Int(100)),
    hit("OpenerName", Int(100)),
    hit("HistoryLength", Small(120)),
    visit("BrowserLanguage", Word(1_000, 8)),
    visit("BrowserCountry", Word(1_000, 30)),
    hit("SocialNetwork", Word(2, 10)),
    hit("SocialAction", Word(2, 5)),
    hit("HTTPError", Flag(1)),
    hit("SendTiming", Millis(800)),
    hit("DNSTiming", Millis(300)),
    hit("ConnectTiming", Millis(450)),
    hit("ResponseStartTiming", Millis(800)),
    hit("ResponseEndTiming", Millis(800)),
    hit("FetchTiming", Millis(850)),
    hit("SocialSourceNetworkID", Small(2)),
    hit("SocialSourcePage", Referrer(4)),
    hit("ParamPrice", AnyLong(1)),
    hit("ParamOrderID", Word(1, 1_000)),
    hit("ParamCurrency", Word(1_000, 2)),
    hit("ParamCurrencyID", Flag(1)),
    hit("OpenstatServiceName", Word(10, 20)),
    hit("OpenstatCampaignID", Word(10, 300)),
    hit("OpenstatAdID", Word(10, 2_000)),
    hit("OpenstatSourceID", Word(10, 500)),
    hit("UTMSource", Word(25, 40)),
    hit("UTMMedium", Word(25, 15)),
    hit("UTMCampaign", Word(25, 400)),
    hit("UTMContent", Word(15, 700)),
    hit("UTMTerm", Phrase(10)),
    hit("FromTag", Word(5, 200)),
    hit("HasGCLID", Flag(10)),
    hit("RefererHash", AnyLong(1_000)),
    hit("URLHash", AnyLong(1_000)),
    hit("CLID", Int(1_000)),
];
