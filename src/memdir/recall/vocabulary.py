"""Words of everyday software work that mean about the same, in English, Chinese and Japanese.

A prompt that says "roll back" and a memory that says "revert", or 回滚, speak of the same thing. Each line of
`GROUPS` is one such meaning, as tokens of `memory.words` before stemming; Chinese words longer than two
characters stand as their most telling pair. General words only: names of products belong to the memories.
The lines of `TRANSLATIONS` are looser: there a word stands for those in the other script only.
"""

from __future__ import annotations

from functools import cache

from memdir.memory.words import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

GROUPS = """
deploy deployment release rollout ship promote 发布 部署 上线 发版 デプロイ リリース
production prod live 生产 线上 本番
staging preprod 预发 ステージング
rollback revert undo 回滚 回退 撤销 ロールバック
incident outage sev postmortem 故障 事故 复盘 障害 インシデント
oncall pager escalation escalate 值班 升级 オンコール
alert alarm 告警 报警 アラート
dashboard board grafana monitoring 大盘 监控 看板 ダッシュボード 監視
log logging logger 日志 打印 ログ
error exception failure fail 错误 报错 异常 失败 エラー 例外
crash oom segfault panic 崩溃 闪退 クラッシュ
timeout 超时 タイムアウト
retry retries 重试 リトライ 再試
idempotent idempotency dedup 幂等 去重 重复 冪等
database db postgres mysql sql 数据 データベース
migration migrate schema ddl 迁移 变更 表结 マイグレーション
column field 字段 カラム
index indexes 索引 インデックス
query select 查询 クエリ
shard sharding partition 分片 分库 分表
replica replication 副本 从库 レプリカ
transaction 事务 トランザクション
cache caching 缓存 キャッシュ
queue backlog lag 队列 堆积 积压 キュー
consumer subscriber 消费 コンシューマ
message event 消息 メッセージ
config configuration setting settings 配置 设置 設定
environment env 环境 環境
variable 变量 変数
secret credential password 密钥 密码 凭证 パスワード
certificate cert tls mtls 证书 証明
signature signing sign 签名 验签 署名
token 令牌 トークン
login signin auth authentication 登录 登陆 认证 ログイン 認証
permission role access 权限 権限
test tests testing spec 测试 单测 テスト
mock stub fake 模拟 モック
flaky intermittent 偶发 不稳
screenshot snapshot golden 截图 快照 スクリーンショット
coverage 覆盖 カバレッジ
build compile compiler 编译 构建 ビルド コンパイル
ci pipeline 流水 パイプライン
container docker image dockerfile 容器 镜像 コンテナ
cluster node nodes 集群 节点 クラスタ
script 脚本 スクリプト
commit committed 提交 コミット
branch 分支 ブランチ
pr pull mr 合并 プルリクエスト
review reviewer 评审 复核 审核 レビュー
ticket issue 工单 チケット
changelog notes 更新 リリースノート
document documentation docs readme 文档 说明 ドキュメント
api endpoint handler 接口 エンドポイント
request 请求 リクエスト
response reply 响应 返回 レスポンス
webhook callback 回调 コールバック
header ヘッダー
rate limit throttle quota 限流 限额 配额 制限
version versions 版本 バージョン
dependency dependencies library package 依赖 依存 ライブラリ
upgrade update bump 升级 更新 アップデート
deprecated legacy obsolete 废弃 停用 旧版
payment pay charge card 支付 付款 决済 決済 支払
refund refunds 退款 返金
order orders 订单 注文
cart basket 购物 カート
price amount money currency cents 金额 价格 価格 金額
discount coupon promotion promo voucher 优惠 折扣 促销 打折 クーポン 割引
tax vat 税率 税额
customer user client 客户 用户 ユーザー 顧客
merchant partner supplier vendor 商户 供应 合作 加盟
guest visitor anonymous 访客 游客 ゲスト
account 账号 账户 帐号 アカウント
quantity count number 数量 个数
stock inventory warehouse 库存 仓库 在庫
search 搜索 检索 検索
mail email 邮件 メール
notification push 通知 推送 プッシュ
channel 渠道 通道 频道 チャンネル
reconciliation reconcile 对账 照合
risk fraud 风控 リスク
model 模型 モデル
training train trainer pretraining 训练 续训 学習
checkpoint weights snapshot 断点 检查 チェックポイント
dataset data corpus 数据 データ
evaluation eval benchmark metric 评测 评估 評価
loss perplexity 损失
batch 批量 バッチ
learning lr
gpu cuda 显卡
throughput slow speed latency performance 吞吐 延迟 变慢 性能
quantization quantize int8 量化
storage disk filesystem 存储 磁盘 ストレージ
backup restore 备份 恢复 バックアップ
delete remove purge cleanup 删除 清理 削除
folder directory 目录 フォルダ
file files 文件 ファイル
app application 应用 アプリ
ios iphone ipad xcode swift 苹果 アイフォン
android pixel play kotlin 安卓 アンドロイド
store appstore testflight 商店 ストア
provisioning profile 描述 プロビジョニング
screen page view ui 页面 界面 画面
button 按钮 ボタン
color colour theme dark 颜色 深色 暗色 主题 ダーク テーマ
translation translate localization localizable i18n language locale 翻译 本地 文案 多语 文言 翻訳 ローカライズ
accessibility a11y voiceover 无障 アクセシビリティ
string text label copy 文字 文本 文案 文章 文言
date time timezone clock 日期 时间 时区 日付 時刻 日時
format formatting 格式 フォーマット 書式
offline sync synced 离线 同步 オフライン 同期
feature flag toggle 开关 灰度 フラグ
canary gradual rollout 灰度 金丝
freeze window 封网 窗口 凍結
schedule cron timer 定时 定期 スケジュール
analytics tracking event 埋点 统计 分析
privacy pii personal 隐私 脱敏 プライバシー 個人
security vulnerability 安全 漏洞 セキュリティ
keyboard key keybinding shortcut keymap 键盘 快捷 キーボード
editor ide vim 编辑 エディタ
shell bash terminal 终端 シェル
printer print 打印 プリンタ
ssh remote host server 服务 主机 サーバ
network dns proxy 网络 ネットワーク
frontend front-end vue react typescript javascript css 前端 フロントエンド
backend back-end 后端 后台 バックエンド
stress load loadtest 压测 負荷
budget cost spend 预算 成本 费用 予算
report summary 报告 报表 レポート
experiment ablation sweep 实验 実験
name naming convention 命名 规范
plot chart graph figure 图表 曲线 グラフ
kotlin kt kts
python py pytest pip
react typescript tsx jsx ts
notebook ipynb jupyter
shell sh zsh fish
swift swiftui
latex tex
markdown md
rust rs cargo
terraform tf
java jvm jdk
"""

TRANSLATIONS = """
link url deeplink 链接 リンク
calendar 日历 カレンダー
photo picture image gallery 图片 照片 相册 画像 写真
video 视频 動画
map location coordinate 地图 位置 定位 地図
phone mobile 手机 電話 携帯
address 地址 住所 アドレス
name 姓名 名称 名前
country region 国家 地区 地域
card 卡号 カード
bank 银行 銀行
invoice receipt bill 发票 账单 請求 領収
balance 余额 残高
fee commission surcharge 手续 费用 手数
settlement settle payout 结算 清算 精算
transfer 转账 送金
exchange currency 汇率 货币 為替 通貨
subscription 订阅 购読
shipping delivery shipment parcel 物流 快递 配送 发货
return returns 退货 返品
product item sku catalog catalogue 商品 产品 製品
category 分类 カテゴリ
review comment 评论 コメント
support helpdesk 客服 サポート
team colleague 团队 同事 チーム 同僚
manager boss approval approve approver 审批 批准 承認
meeting 会议 会議
deadline due 截止 期限 締切
holiday vacation leave 假期 节假 休暇
week weekly 每周 毎週 週次
month monthly 月末 每月 毎月 月次
night nightly overnight 夜间 凌晨 夜間
weekend saturday sunday 周末 週末
thread concurrency concurrent race deadlock 线程 并发 死锁 スレッド 並行
lock locked locking mutex 加锁 分布 ロック
memory heap leak 内存 泄漏 メモリ
connection connect pool 连接 接続
port socket 端口 ポート
proxy gateway 网关 代理 ゲートウェイ
route routing router 路由 ルート ルーティング
load balancer balancing 负载
traffic 流量 トラフィック
rate ratio percent percentage 比例 成功 割合
limit maximum max cap 上限
minimum min least 最低
default 默认 デフォルト 既定
optional required mandatory 必填 必须 必須
empty null nil missing blank 为空 空值 空状
duplicate duplicated twice 重复 重複
encrypt encryption decrypt cipher 加密 解密 暗号
hash checksum digest 哈希 校验 摘要 ハッシュ
mask masking redact sanitize 脱敏 掩码 マスク
validate validation check verify 校验 验证 検証
sandbox 沙箱 サンドボックス
simulator emulator 模拟 シミュレータ
device devices tablet 设备 端末 デバイス 機種
animation 动画 アニメーション
font 字体 フォント
icon 图标 アイコン
layout 布局 レイアウト
list table row 列表 表格 一覧
dialog popup modal alert 弹窗 ダイアログ
navigation tab 导航 ナビ
component widget 组件 控件 部品
background 后台 バックグラウンド
foreground 前台
session cookie 会话 セッション
download 下载 ダウンロード
upload 上传 アップロード
import importer 导入 インポート
export 导出 エクスポート
parse parser parsing 解析 パース
serialize json serialization 序列
encoding utf charset 编码
compress zip gzip tar archive 压缩 归档 圧縮
parameter argument arg flag option 参数 引数
hyperparameter grid sweep 超参 网格
seed random 随机 种子 乱数
gradient clip clipping 梯度 裁剪 勾配
precision fp16 bf16 fp8 精度
inference serve serving 推理 推論
embedding vector 向量 嵌入
prompt llm 提示
tokenizer tokenise tokenize 分词 トークナイザ
label annotation annotate 标注 标签 ラベル
sample sampling 采样 样本 サンプル
filter filtering 过滤 フィルタ
clean cleaning scrub 清洗 クレンジング
crawl crawler spider 爬虫 抓取 クロール
license licence legal contract compliance 许可 合规 法务 ライセンス 法務
japanese japan 日本 日语 日文
chinese china 中文 汉语
english 英文 英语 英語
german germany 德语 德国
laptop notebook macbook 笔记 电脑 ノートパソコン
desktop workstation 台式 桌面 デスクトップ
automation automate automatic automatically 自动 自動
restart reboot 重启
install installation setup 安装 インストール
password passphrase pin 口令
firewall vpn 防火 ファイア
symlink link 软链
plugin extension addon 插件 扩展 プラグイン 拡張
paper article journal 论文 論文
slide slides presentation talk 幻灯 演示 スライド 発表
email inbox mailbox mail 邮箱 受信
newsletter marketing campaign 营销 活动 キャンペーン
signup register registration 注册 登録
blocked block blacklist ban blocklist 黑名 拉黑 屏蔽
whitelist allowlist 白名 放行
exception special exempt 例外 特例
threshold 阈值 閾値
metric metrics indicator kpi 指标 指標
slow slowdown laggy sluggish 很慢 卡顿 缓慢
hang stuck freeze freezing pending 卡住 挂起
lost lose missing disappear vanish 丢失 不见 消失
corrupt corrupted broken 损坏 破損
draft wording 草稿 下書
describe description explain 说明 描述 説明
cutoff cut 切分 カット
submit submission queue job 任务 作业 ジョブ
worker process daemon 进程 プロセス
node machine host 机器 节点 マシン
"""


@cache
def relatives() -> Mapping[str, frozenset[str]]:
    """Token -> the tokens that mean about the same (itself left out)."""
    related: dict[str, set[str]] = {}
    for line in GROUPS.strip().splitlines():
        group = {stem(word) for word in line.split()}
        for word in group:
            related.setdefault(word, set()).update(group - {word})
    for line in TRANSLATIONS.strip().splitlines():
        group = {stem(word) for word in line.split()}
        for word in group:
            related.setdefault(word, set()).update(one for one in group if one.isascii() != word.isascii())
    return {word: frozenset(others) for word, others in related.items()}


AGENT_TOOLS = frozenset(
    {"read", "write", "edit", "multiedit", "notebookedit", "glob", "grep", "ls", "bash", "task", "agent"}
    | {"todowrite", "webfetch", "websearch"}
)
"""The coding agent's own tools, in lower case: that one of them was used says nothing about the work."""
