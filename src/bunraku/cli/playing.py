"""Commands that show motions elsewhere: play and guide open the stage, robot serves one, publish sends to ROS 2."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bunraku.cli.command import file_entries, open_stage, refuse_idle, say, tell, verb
from bunraku.cli.names import Browser, Output, Play, Port, Seed, complete, thing_named
from bunraku.cli.ordering import carry_out, order_for
from bunraku.errors import FileError


@verb(alone=True)
def play(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIGURE",
            autocompletion=complete,
            help="Files or names to show. Default: demonstrations of everything that bunraku does.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on. 0.0.0.0 admits other machines, which also need the token in the printed address."),
    ] = "127.0.0.1",
    port: Port = 8360,
    browser: Browser = None,
    folder: Annotated[
        Path, typer.Option("--out", help="Folder for the video and the HTML page that are written if there is no display.")
    ] = Path("out"),
) -> None:
    """Open the stage, a page in the browser: watch motions, pull strings, record, export.

    If there is no display, the address is printed, and of figures and files that are named a video and an HTML page that works
    offline are written.
    """
    from bunraku.teleop import opening_show
    from bunraku.teleop.dropped_files import shown

    if folder.exists() and not folder.is_dir():
        raise FileError("not a folder", path=str(folder), advice="give a folder with --out; it is created if it does not exist")
    entries = []
    for name in sources or ():
        entries += file_entries(Path(name)) if Path(name).is_file() else shown(thing_named(name), Path(name).stem)
    open_stage(entries or opening_show(), host=host, port=port, browser=browser, out=folder if entries else None)


@verb(alone=True)
def guide(
    humanoid: Annotated[
        str,
        typer.Argument(
            metavar="HUMANOID",
            help="A humanoid file to guide live, or a guiding file with timed inputs; or the name of one that comes with bunraku.",
        ),
    ] = "humanoid",
    output: Output = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the paths of centre of mass, ZMP, feet and hands from above into a PNG, SVG or PDF file."),
    ] = None,
    seed: Seed = None,
    play: Play = None,
    scene: Annotated[Path | None, typer.Option(help="A scene file. Default: a room with two steps and a door.")] = None,
    replay: Annotated[Path | None, typer.Option(help="Play inputs that were saved on the stage, instead of live input.")] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.0, max=3600.0, help="With --replay: seconds to continue after the last input. Default: 2."),
    ] = None,
    physics: Annotated[bool, typer.Option("--physics", help="Simulate in MuJoCo, with position servos and a stabiliser.")] = False,
    brisk: Annotated[
        bool, typer.Option("--brisk", help="Walk without rest between steps: faster, but only on known ground.")
    ] = False,
    joystick: Annotated[int | None, typer.Option(min=0, help="Use this joystick; --joysticks lists the numbers.")] = None,
    joysticks: Annotated[bool, typer.Option("--joysticks", help="List the joysticks of this machine.")] = False,
    robot: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Move the robot that is served there, such as by `bunraku robot`, in real time."),
    ] = None,
    token: Annotated[str, typer.Option(envvar="BUNRAKU_ROBOT_TOKEN", help="With --robot: its token.")] = "",
    describe: Annotated[
        bool,
        typer.Option("--describe", help="Write a first humanoid file for a robot (URDF, SDF or MJCF) into --output, or print it."),
    ] = False,
    port: Port = 8360,
    browser: Browser = None,
) -> None:
    """Guide a humanoid with a joystick, keys or the mouse.

    You move one point (a foot, the trunk or a hand); the rest of the body follows and keeps its balance. With a guiding file, or
    with --replay, the inputs are played without the stage; only then do --output, --plot, --seed and --play apply. Ctrl-C keeps
    the motion so far.
    """
    from bunraku.verbs.guide import run as guiding
    from bunraku.verbs.guide.file import GuideOrder

    if joysticks:
        tell(guiding.joysticks())
        return
    if describe:
        guiding.describe(humanoid, [Path(path) for path in output or ()], say)
        return
    order = None if humanoid == "humanoid" else _guiding_order(humanoid)
    if order is not None:
        refuse_idle("write them into the file", scene=scene, physics=physics, brisk=brisk, seconds=seconds is not None)
        refuse_idle("the file has its own inputs", replay=replay, joystick=joystick is not None, robot=robot)
    elif replay is not None:
        refuse_idle("an input log has its own inputs", joystick=joystick is not None, robot=robot)
        lasts = 2.0 if seconds is None else seconds
        order = GuideOrder.of_log(humanoid, replay, scene=scene, physics=physics, brisk=brisk, seconds=lasts)
    if order is not None:
        carry_out(order, output, plot, seed=seed, play=play)
    refuse_idle(
        "use them with a guiding file or --replay; on the stage, record and export instead", output=output, plot=plot,
        seed=seed is not None, play=play is not None,
    )  # fmt: skip
    address = None if robot is None else _address(robot)
    if address is not None:
        refuse_idle("the robot has its own physics", physics=physics)
    one = guiding.entry(humanoid, scene, physics=physics, brisk=brisk, joystick=joystick, robot=address, token=token)
    one.open()  # so that errors are printed here, not in the browser
    open_stage([one], port=port, browser=browser)


@verb(alone=True)
def robot(
    humanoid: Annotated[
        str, typer.Argument(metavar="HUMANOID", help="A humanoid file, or the name of one that comes with bunraku.")
    ] = "humanoid",
    scene: Annotated[Path | None, typer.Option(help="A scene file. Default: a room with two steps and a door.")] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on. 0.0.0.0 admits other machines, which also need the token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="TCP port; 0 picks a free one.")] = 8370,
    token: Annotated[
        str | None, typer.Option(envvar="BUNRAKU_ROBOT_TOKEN", help="What clients must know. Default: a random one, printed.")
    ] = None,
) -> None:
    """Serve a simulated robot over a socket, in real time, to be guided from another process.

    It takes the place of a real robot: `bunraku guide --robot HOST:PORT --token TOKEN` moves it. If its client leaves, falls silent
    or sends garbage, it ends its move and stands. Ctrl-C ends it.
    """
    from time import sleep

    from bunraku.errors import BunrakuError
    from bunraku.teleop.robot_server import RobotServer
    from bunraku.verbs.guide.run import reference_robot

    one = reference_robot(humanoid, scene)
    with RobotServer(one, clocked=True, host=host, port=port, token=token) as server:
        where, known = f"{server.address[0]}:{server.address[1]}", server.token
        say(f"robot {one.humanoid.figure.name} on {where}, {1e3 * one.dt:g} ms a tick; move it with")
        say(f"  bunraku guide {humanoid} --robot {where} --token {known}")
        served = fell = False
        try:
            while True:
                sleep(0.2)
                if server.trouble:
                    raise BunrakuError(server.trouble)
                if server.served != served:
                    served = server.served
                    say("a client has come" if served else "its client is gone: it ends its move and stands")
                if one.fallen and not fell:
                    say("it fell")
                fell = one.fallen
        except KeyboardInterrupt:
            say(f"stopped; {server.times}")
            raise


@verb()
def publish(
    source: Annotated[
        str,
        typer.Argument(metavar="MOTION", autocompletion=complete, help="A file, or the name of an order, which is run."),
    ],
    topic: Annotated[str, typer.Option(help="Name of the topic.")] = "/joint_states",
    trajectory: Annotated[
        bool, typer.Option("--trajectory", help="Send one JointTrajectory to a controller, instead of joint states in real time.")
    ] = False,
    joint: Annotated[list[str] | None, typer.Option(help="A variable to send; may be repeated. Default: all.")] = None,
    speed: Annotated[float, typer.Option(min=0.01, max=100.0, help="Speed of joint states, as a multiple of real time.")] = 1.0,
    wait: Annotated[
        float, typer.Option(min=0.0, max=3600.0, help="Seconds to wait for a subscriber; 0 publishes joint states without one.")
    ] = 10.0,
    domain: Annotated[int | None, typer.Option(min=0, max=232, help="Domain of DDS. Default: ROS_DOMAIN_ID, or 0.")] = None,
) -> None:
    """Publish a motion to ROS 2, as joint states or as a trajectory, over DDS.

    ROS need not be installed here. See `ros2 topic echo /joint_states` on any machine of the same network and domain.
    """
    from bunraku.errors import BunrakuError
    from bunraku.io.ros2 import publish_states, publish_trajectory
    from bunraku.motion import Motion

    motion = thing_named(source)
    if not isinstance(motion, Motion):
        raise BunrakuError(f"{source} is no motion\n  advice: give a motion file, or an order such as dance")
    if trajectory:
        refuse_idle("a trajectory has its own times", speed=speed != 1.0)
        publish_trajectory(motion, topic, joints=joint, patience=wait, domain=domain)
    else:
        publish_states(motion, topic, joints=joint, speed=speed, patience=wait, domain=domain)
    say(f"published {motion.duration:.4g} s on {topic}")


def _address(robot: str) -> tuple[str, int]:
    """Host and port of HOST:PORT."""
    from bunraku.errors import BunrakuError

    host, colon, port = robot.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise BunrakuError(f"--robot {robot} is no address\n  advice: give a host and a port, such as localhost:8370")
    return host, int(port)


def _guiding_order(name: str) -> Any:
    """Loads the guiding order `name` (a file or the name of a shipped order); None if it is another kind of file."""
    from bunraku.io.shipped import found
    from bunraku.io.yaml import yaml_reader

    file = found(name)
    if not file.is_file() or yaml_reader.read(file).get("guide") is None:
        return None
    return order_for("guide", name)
